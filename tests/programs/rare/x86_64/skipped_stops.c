/* A handler lets the program continue after ud2, ud1 and hlt: in the middle of paths, at their ends, in front of the
   no-ops of an aligned loop. */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

static volatile int skipped;

static void skip(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  ucontext_t* user = context;
  const unsigned char* at = (const unsigned char*)user->uc_mcontext.gregs[REG_RIP];
  user->uc_mcontext.gregs[REG_RIP] += at[0] == 0xf4 ? 1 : at[1] == 0x0b ? 2 : 3;
  skipped++;
}

__attribute__((noinline)) static unsigned work(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++) {
    if (i % 7 == 3) __asm__ volatile("ud2");
    if (i % 5 == 1) {
      sum ^= 0x55;
      __asm__ volatile("hlt");
    }
    if (i % 11 == 1) {
      sum += 3;
      __asm__ volatile("ud1 %%eax,%%eax" ::: "memory");
    }
    sum = sum * 33 + i;
    __asm__ volatile("ud2");
    for (unsigned j = 0; j < i % 3; j++) sum ^= sum >> 3;
  }
  return sum;
}

int tested(int x) {
  struct sigaction action = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
  sigaction(SIGILL, &action, 0);
  sigaction(SIGSEGV, &action, 0);
  const unsigned sum = work(40 + x);
  return (int)(sum + (unsigned)skipped);
}
