/* setjmp/longjmp, signal handlers, alternate stacks, siglongjmp out of SIGSEGV, nested and masked
   signals, SIGFPE, timers. Handlers return through code that unwinders match by its bytes. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static jmp_buf jumps[4];
static sigjmp_buf recover;
static volatile sig_atomic_t caught, nested, on_alternate, depth_in_handler;
static char alternate[65536];

__attribute__((noinline)) static int descend(int level, int target) {
  volatile int marker = level * 3;
  if (level == 0) longjmp(jumps[target], target + 10);
  int r = descend(level - 1, target);
  return r + marker;
}

__attribute__((noinline)) static void try_jumps(void) {
  for (int i = 0; i < 4; i++) {
    volatile int before = i * 100;
    int r = setjmp(jumps[i]);
    if (r == 0)
      printf("unreachable %d\n", descend(5 + i, i));
    else
      printf("jump %d returned %d with %d\n", i, r, before);
  }
  volatile int count = 0;
  if (setjmp(jumps[0]) < 3) {
    count++;
    longjmp(jumps[0], count);
  }
  printf("second-hand jumps: %d\n", count);
}

static void on_usr1(int number) {
  caught += number == SIGUSR1;
  if (caught < 3) raise(SIGUSR2);
}

static void on_usr2(int number, siginfo_t* info, void* context) {
  (void)context;
  nested += number == SIGUSR2 && info->si_signo == SIGUSR2;
}

static void on_fault(int number, siginfo_t* info, void* context) {
  char here;
  (void)info;
  (void)context;
  on_alternate = &here >= alternate && &here < alternate + sizeof alternate;
  siglongjmp(recover, number);
}

static void on_trace(int number) {
  void* frames[32];
  (void)number;
  depth_in_handler = backtrace(frames, 32);
}

__attribute__((noinline)) static int poke(volatile char* place, int n) {
  if (n > 0) return poke(place, n - 1) + 1;
  *place = 1;
  return 0;
}

static void try_faults(void) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  sigaltstack(&stack, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, 0);
  sigaction(SIGBUS, &action, 0);
  char* page = mmap(0, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 5; i++) {
    int number = sigsetjmp(recover, 1);
    if (number == 0)
      printf("no fault %d\n", poke(page, i));
    else
      printf("fault %d: signal %s on alternate stack %d\n", i,
             number == SIGSEGV || number == SIGBUS ? "ok" : "?", (int)on_alternate);
  }
}

int main(void) {
  setvbuf(stdout, 0, _IOLBF, 0);
  try_jumps();

  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_usr1;
  sigaction(SIGUSR1, &action, 0);
  action.sa_handler = 0;
  action.sa_sigaction = on_usr2;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR2, &action, 0);
  for (int i = 0; i < 5; i++) raise(SIGUSR1);
  printf("caught %d nested %d\n", (int)caught, (int)nested);

  sigset_t set, old, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, &old);
  kill(getpid(), SIGUSR1);
  sigpending(&pending);
  printf("blocked: caught %d pending %d\n", (int)caught, sigismember(&pending, SIGUSR1));
  sigprocmask(SIG_SETMASK, &old, 0);
  printf("unblocked: caught %d\n", (int)caught);

  try_faults();

  signal(SIGALRM, on_trace);
  struct itimerval timer = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &timer, 0);
  while (!depth_in_handler) pause();
  printf("unwound out of the handler: %s\n", depth_in_handler >= 3 ? "yes" : "no");

  fflush(stdout);
  signal(SIGABRT, SIG_DFL);
  abort();
}
