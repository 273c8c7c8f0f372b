/* A handler lets the program continue after instructions that stop it: in the middle of paths, at their ends, before
   no-ops of an aligned loop. (Some kernels stop at the instruction, some after it.)
   build: -O2
   build: -O1 STATIC
   rewritten: work */
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
static volatile unsigned skipped;
static void skip(int signal, siginfo_t *info, void *context) { (void)signal, (void)info; unsigned long *pc = (unsigned long *)&((ucontext_t *)context)->uc_mcontext.sc_pc; if (*(unsigned *)*pc >> 26 == 0) *pc += 4; ++skipped; }
__attribute__((noinline)) unsigned work(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++) {
    if (i % 7 == 3) asm volatile("call_pal 0");
    if (i % 5 == 1) { sum ^= 0x55; asm volatile("call_pal 0x81"); }
    sum = sum * 33 + i;
    asm volatile("call_pal 0" ::: "memory");
    for (unsigned j = 0; j < i % 3; j++) sum ^= sum >> 3;
  }
  return sum;
}
int main(void) {
  struct sigaction action = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
  sigaction(SIGILL, &action, 0);
  sigaction(SIGTRAP, &action, 0);
  unsigned sum = work(60);
  printf("%u %u\n", sum, skipped);
  return 0;
}
