/* The last procedure of the text ends with a trap that never returns.
   build: -O2
   build: -O2 STATIC
   build: -O0 -fno-asynchronous-unwind-tables -funwind-tables
   rewritten: last */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void caught(int number) { printf("signal %d\n", number); fflush(stdout); _exit(7); }
__attribute__((noinline, noreturn, section(".text.zzz"))) void last(int x) {
  printf("last %d\n", x);
  __builtin_trap();
}
int main(int argc, char **argv) {
  signal(SIGTRAP, caught);
  signal(SIGILL, caught);
  if (argc > 0) last(argc);
  return 0;
}
