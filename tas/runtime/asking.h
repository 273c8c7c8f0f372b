#pragma once
/* Asks the attendant (tas/attendant.cc) one question and waits for its answer, for freestanding
   code.

   The attendant may be gone, hang or be slow: then there is no answer, and the caller continues
   without one. No file stays open. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/time_types.h>
#include <stddef.h>
#include <stdint.h>

#include "system_call.h" /* of the machine */

enum {
  ASK_UNIX = 1,           /* AF_UNIX */
  ASK_PACKETS = 5,        /* SOCK_SEQPACKET */
  ASK_READABLE = 1,       /* POLLIN */
  ASK_NO_SIGNAL = 0x4000, /* MSG_NOSIGNAL */
  ASK_BOTH_WAYS = 2,      /* SHUT_RDWR */
  ASK_MONOTONIC = 1,      /* CLOCK_MONOTONIC */
  ASK_REAL_TIME = 0       /* CLOCK_REALTIME */
};

/* Nanoseconds of a clock. */
static uint64_t ask_time(long clock) {
  struct __kernel_timespec time = {0, 0};
  system_call(__NR_clock_gettime, clock, (long)&time, 0, 0, 0, 0);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Writes a decimal number; returns where it ends. */
static char* ask_number(char* to, uint64_t number) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
  } while ((number /= 10) != 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

static char* ask_text(char* to, const char* text) {
  while (*text != 0) *to++ = *text++;
  return to;
}

/* The same file under a number that programs do not use, so that a thread that closes a file and
   opens another in the meantime gets the number that it expects. */
static long ask_out_of_the_way(long file) {
  enum { HIGH = 500 };
  const long moved =
      file < 0 ? file : system_call(__NR_fcntl, file, F_DUPFD_CLOEXEC, HIGH, 0, 0, 0);
  if (moved < 0) return file;
  system_call(__NR_close, file, 0, 0, 0, 0, 0);
  return moved;
}

/* The answer, a letter; 0: none within `milliseconds`. `attendant`: a path to its socket, of any
   length. */
static char ask(const char* attendant, const char* message, size_t size, int milliseconds) {
  struct {
    unsigned short family;
    char path[108];
  } address;
  char answer = 0;
  const long place = ask_out_of_the_way(
      system_call(__NR_openat, AT_FDCWD, (long)attendant, O_PATH | O_CLOEXEC, 0, 0, 0));
  if (place < 0) return 0;
  address.family = ASK_UNIX;
  *ask_number(ask_text(address.path, "/proc/self/fd/"), (uint64_t)place) = 0;
  const long socket =
      ask_out_of_the_way(system_call(__NR_socket, ASK_UNIX, ASK_PACKETS | O_CLOEXEC, 0, 0, 0, 0));
  /* If too many connections wait already, connect() fails at once. */
  if (socket >= 0) system_call(__NR_fcntl, socket, F_SETFL, O_NONBLOCK, 0, 0, 0);
  if (socket >= 0 &&
      system_call(__NR_connect, socket, (long)&address, sizeof address, 0, 0, 0) == 0 &&
      system_call(__NR_sendto, socket, (long)message, (long)size, ASK_NO_SIGNAL, 0, 0) >= 0) {
    const uint64_t end = ask_time(ASK_MONOTONIC) + (uint64_t)milliseconds * 1000000u;
    for (;;) { /* signals interrupt */
      struct {
        int file;
        short wanted, got;
      } state = {(int)socket, ASK_READABLE, 0};
      const uint64_t now = ask_time(ASK_MONOTONIC);
      if (now >= end) break;
      const long ready =
          system_call(__NR_poll, (long)&state, 1, (long)((end - now) / 1000000u + 1), 0, 0, 0);
      if (ready == -EINTR) continue;
      if (ready > 0 && system_call(__NR_recvfrom, socket, (long)&answer, 1, 0, 0, 0) != 1)
        answer = 0;
      break;
    }
  }
  /* Forked children may also have the socket. */
  if (socket >= 0) system_call(__NR_shutdown, socket, ASK_BOTH_WAYS, 0, 0, 0, 0);
  if (socket >= 0) system_call(__NR_close, socket, 0, 0, 0, 0, 0);
  system_call(__NR_close, place, 0, 0, 0, 0, 0);
  return answer;
}
