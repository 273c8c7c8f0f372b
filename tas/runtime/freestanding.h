#pragma once
/* The starter's replacement for a C library: system calls, strings, and one way to give up.

   Texts have a limited size; a text that is too long for a path is cut, and no file is found under
   it. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <stddef.h>
#include <stdint.h>

#include "system_call.h" /* of the machine */

enum { PATH_SIZE = 4096, NUMBER_SIZE = 24, CANNOT_EXECUTE = 126, LEAST_ERROR = -4095 };

#define CALL1(name, a) system_call(__NR_##name, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(name, a, b) system_call(__NR_##name, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(name, a, b, c) system_call(__NR_##name, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(name, a, b, c, d) \
  system_call(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL5(name, a, b, c, d, e) \
  system_call(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

typedef struct {
  char text[PATH_SIZE];
  size_t size; /* without the zero */
} Text;

static inline size_t length_of(const char* text) {
  size_t size = 0;
  while (text[size] != 0) ++size;
  return size;
}

static int equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

/* The text after the prefix; NULL when the text does not start with it. */
static const char* behind(const char* text, const char* prefix) {
  while (*prefix != 0 && *text == *prefix) ++text, ++prefix;
  return *prefix == 0 ? text : NULL;
}

static void append(Text* to, const char* text) {
  while (*text != 0 && to->size + 1 < PATH_SIZE) to->text[to->size++] = *text++;
  to->text[to->size] = 0;
}

static void append_number(Text* to, uint64_t number, unsigned base) {
  char digits[NUMBER_SIZE];
  char* at = digits + sizeof digits;
  *--at = 0;
  do {
    *--at = "0123456789abcdef"[number % base];
  } while ((number /= base) != 0);
  append(to, at);
}

static Text text_of(const char* a, const char* b) {
  Text text;
  text.size = 0;
  append(&text, a);
  append(&text, b);
  return text;
}

/* Reads a decimal number. */
static uint64_t take_number(const char** text) {
  uint64_t number = 0;
  for (; **text >= '0' && **text <= '9'; ++*text) number = number * 10 + (uint64_t)(**text - '0');
  return number;
}

static const char* meaning_of(long error) {
  switch (-error) {
    case EPERM:
      return "it is not permitted";
    case ENOENT:
      return "there is no such file";
    case EACCES:
      return "permission is denied";
    case ENOMEM:
      return "memory is short";
    case ENOSPC:
      return "namespaces are nested too deep, or the disk is full";
    case EUSERS:
      return "namespaces are nested too deep";
    default:
      return NULL;
  }
}

__attribute__((noreturn)) static void give_up(const char* file, const char* what, long error) {
  Text text = text_of("respike-starter: ", file);
  append(&text, ": ");
  append(&text, what);
  append(&text, ": ");
  if (meaning_of(error) != NULL) {
    append(&text, meaning_of(error));
  } else {
    append(&text, "error ");
    append_number(&text, (uint64_t)-error, 10);
  }
  append(&text, "\n");
  CALL3(write, 2, text.text, text.size);
  for (;;) CALL1(exit_group, CANNOT_EXECUTE);
}

static long open_file(const char* path, long flags) {
  return CALL4(openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

/* Maps a file, privately; NULL when that fails, or when the file is empty. */
static char* map_file(long file, size_t size) {
  if (size == 0) return NULL;
  const long at =
      system_call(__NR_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  return at < 0 && at >= LEAST_ERROR ? NULL : (char*)at;
}
