// Signals: sent, from timers, from faults, on another stack, in system calls.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t seen, depth, deepest;
static volatile uint64_t kept;
static sigjmp_buf out;
static siginfo_t last;

static void count(int signal) { seen += signal == SIGUSR1 ? 1 : 100; }
static void note(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)context;
  last = *info;
  seen++;
}
static void escape(int signal, siginfo_t *info, void *context) {
  note(signal, info, context);
  siglongjmp(out, signal);
}
static void nested(int signal) {
  if (++depth > deepest) deepest = depth;
  if (depth < 5) raise(signal);
  depth--;
}

static void install(int signal, void (*handler)(int, siginfo_t *, void *), int flags) {
  struct sigaction action = {0};
  action.sa_sigaction = handler;
  action.sa_flags = flags | SA_SIGINFO;
  sigaction(signal, &action, 0);
}

static void sent(void) {
  signal(SIGUSR1, count);
  signal(SIGUSR2, count);
  raise(SIGUSR1);
  kill(getpid(), SIGUSR2);
  printf("sent %d\n", (int)seen);
  struct sigaction action = {0};
  action.sa_handler = nested;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGUSR1, &action, 0);
  raise(SIGUSR1);
  printf("nested %d %d\n", (int)deepest, (int)depth);
  install(SIGRTMIN + 1, note, 0);
  union sigval value = {.sival_int = 4711};
  sigqueue(getpid(), SIGRTMIN + 1, value);
  printf("queued %d %d %d\n", last.si_value.sival_int, last.si_code == SI_QUEUE, last.si_pid == getpid());
}

static void blocked(void) {
  sigset_t set, old, pending;
  signal(SIGUSR1, count);
  seen = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, &old);
  raise(SIGUSR1);
  raise(SIGUSR1);
  sigpending(&pending);
  printf("blocked %d %d\n", (int)seen, sigismember(&pending, SIGUSR1));
  sigsuspend(&old);
  printf("suspended %d %d\n", (int)seen, errno == EINTR);
  sigprocmask(SIG_SETMASK, &old, 0);
  sigprocmask(SIG_BLOCK, &set, 0);
  raise(SIGUSR1);
  struct timespec second = {1, 0};
  siginfo_t info;
  printf("waited %d\n", sigtimedwait(&set, &info, &second) == SIGUSR1);
  sigprocmask(SIG_SETMASK, &old, 0);
}

// Sent signals of faults wait like others while they are blocked.
static void blocked_faults(void) {
  sigset_t set, old, pending;
  siginfo_t info;
  struct timespec second = {1, 0};
  install(SIGSEGV, note, 0);
  install(SIGBUS, note, 0);
  seen = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  sigaddset(&set, SIGBUS);
  sigprocmask(SIG_BLOCK, &set, &old);
  raise(SIGSEGV);
  kill(getpid(), SIGBUS);
  sigpending(&pending);
  printf("held %d %d %d\n", (int)seen, sigismember(&pending, SIGSEGV), sigismember(&pending, SIGBUS));
  sigdelset(&set, SIGSEGV);
  printf("taken %d", sigtimedwait(&set, &info, &second) == SIGBUS);
  printf(" %d %d\n", info.si_code == SI_USER, info.si_pid == getpid());
  sigpending(&pending);
  printf("left %d %d\n", sigismember(&pending, SIGSEGV), sigismember(&pending, SIGBUS));
  printf("suspended %d", sigsuspend(&set));
  printf(" %d %d %d\n", errno == EINTR, (int)seen, last.si_signo == SIGSEGV);
  raise(SIGSEGV);
  raise(SIGSEGV);
  kill(getpid(), SIGBUS);
  printf("held %d\n", (int)seen);
  sigprocmask(SIG_SETMASK, &old, 0);
  printf("let through %d\n", (int)seen);
  sigprocmask(SIG_BLOCK, &set, 0);
  raise(SIGBUS);
  fflush(stdout);
  if (fork() == 0) {  // a child begins without its parent's pending signals
    sigpending(&pending);
    printf("child %d\n", sigismember(&pending, SIGBUS));
    fflush(stdout);
    _exit(0);
  }
  wait(0);
  sigprocmask(SIG_SETMASK, &old, 0);
  printf("seen %d %d\n", (int)seen, last.si_signo == SIGBUS);
}

// All registers must survive a handler that comes at any moment.
static void churn(int signal) {
  (void)signal;
  double x = seen;
  for (int i = 0; i < 20; i++) x = x * 1.5 + i / 3.0;
  kept += (uint64_t)x;
  seen++;
}
__attribute__((noinline)) static uint64_t work(uint64_t n, double *f) {
  uint64_t a = 1, b = 2, c = 3, d = 4, e = 5;
  double x = 1, y = 2;
  for (uint64_t i = 0; i < n; i++) {
    a += b ^ i;
    b = b * 3 + c;
    c ^= a >> 3;
    d += c * 5;
    e = e * 31 + d;
    x = x * 0.999 + y;
    y = y * 0.5 + (double)(i & 7);
  }
  *f = x + y;
  return a ^ b ^ c ^ d ^ e;
}
static void timer(void) {
  double quiet, busy;
  uint64_t expected = work(300000, &quiet);
  signal(SIGALRM, churn);
  seen = 0;
  struct itimerval often = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, 0);
  int good = 1;
  for (int round = 0; seen < 20 && round < 5000; round++) good &= work(300000, &busy) == expected && busy == quiet;
  setitimer(ITIMER_REAL, &off, 0);
  printf("timer %d %d\n", seen >= 20, good);
}

static void faults(void) {
  install(SIGSEGV, escape, 0);
  install(SIGFPE, escape, 0);
  install(SIGILL, escape, 0);
  install(SIGBUS, escape, 0);
  volatile int *nowhere = (int *)8;
  volatile int zero = 0;
  seen = 0;
  if (sigsetjmp(out, 1) == 0) *nowhere = 1;
  else printf("write %d %d\n", last.si_addr == nowhere, last.si_code == SEGV_MAPERR);
  long page = 65536;
  char *area = mmap(0, (size_t)(2 * page), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sigsetjmp(out, 1) == 0) area[page + 5] = 1;
  else printf("protected %d %d\n", (char *)last.si_addr == area + page + 5, last.si_code == SEGV_ACCERR);
  if (sigsetjmp(out, 1) == 0) printf("%d\n", 7 / zero);
  else printf("divided %d %d\n", last.si_signo == SIGFPE, last.si_code == FPE_INTDIV);
  if (sigsetjmp(out, 1) == 0) __builtin_trap();
  else printf("trapped %d\n", last.si_signo == SIGILL || last.si_signo == SIGTRAP);
  void (*volatile wild)(void) = 0;
  long descriptor[2] = {0x6000000012345670, 0};
#ifdef __ia64__
  wild = (void (*)(void))descriptor;
#else
  wild = (void (*)(void))descriptor[0];
#endif
  if (sigsetjmp(out, 1) == 0) wild();
  else printf("jumped %d\n", last.si_signo == SIGSEGV);
  printf("faults %d\n", (int)seen);
  for (int i = 0; i < 1000; i++) {
    if (sigsetjmp(out, 1) == 0) *nowhere = i;
  }
  printf("faults %d\n", (int)seen);
}

static char *low, *high;
static void on_other_stack(int signal, siginfo_t *info, void *context) {
  char here;
  note(signal, info, context);
  last.si_errno = &here > low && &here < high;
}
__attribute__((noinline)) static int overflow(int n) {
  volatile char space[4096];
  space[n % 4096] = (char)n;
  return n == 0 ? space[0] : overflow(n - 1) + space[n % 4096];
}
static void other_stack(void) {
  size_t size = 1 << 19;
  low = malloc(size);
  high = low + size;
  stack_t stack = {.ss_sp = low, .ss_size = size}, before;
  sigaltstack(&stack, 0);
  install(SIGUSR1, on_other_stack, SA_ONSTACK);
  raise(SIGUSR1);
  sigaltstack(0, &before);
  printf("other %d %d\n", last.si_errno, before.ss_flags == 0);
  install(SIGSEGV, escape, SA_ONSTACK);
  if (sigsetjmp(out, 1) == 0) printf("%d\n", overflow(1 << 20));
  else puts("overflowed");
}

static void *writer(void *argument) {
  pthread_t main_thread = *(pthread_t *)argument;
  for (int i = 0; i < 2; i++) {
    usleep(100000);
    pthread_kill(main_thread, SIGUSR1);
  }
  return 0;
}
static void interrupted(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) return;
  pthread_t self = pthread_self(), other;
  install(SIGUSR1, note, 0);
  pthread_create(&other, 0, writer, &self);
  ssize_t size = read(ends[0], &byte, 1);
  printf("interrupted %d %d\n", (int)size, errno == EINTR);
  install(SIGUSR1, note, SA_RESTART);
  struct itimerval late = {{0, 0}, {0, 300000}};
  (void)late;
  if (fork() == 0) {
    usleep(400000);
    if (write(ends[1], "x", 1) != 1) _exit(1);
    _exit(0);
  }
  size = read(ends[0], &byte, 1);
  printf("restarted %d %c\n", (int)size, byte);
  pthread_join(other, 0);
  int status;
  wait(&status);
}

static void dying(void) {
  static const int signals[] = {SIGABRT, SIGTERM, SIGSEGV, SIGKILL};
  for (int i = 0; i < 4; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      signal(signals[i], SIG_DFL);
      if (signals[i] == SIGABRT) abort();
      raise(signals[i]);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("died %d %d\n", WIFSIGNALED(status), WTERMSIG(status));
  }
}

// Calls that cannot wait never end with EINTR, however often a handler without SA_RESTART runs.
static void undisturbed(void) {
  struct sigaction action = {0};
  action.sa_handler = churn;
  sigaction(SIGALRM, &action, 0);
  struct itimerval often = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
  sigset_t set;
  sigemptyset(&set);
  int pipes[2], wrong = pipe(pipes);
  seen = 0;
  setitimer(ITIMER_REAL, &often, 0);
  while (seen < 400) {
    wrong += close(-1) != -1 || errno != EBADF;
    wrong += getppid() < 1;
    wrong += sigprocmask(SIG_BLOCK, &set, 0);
    char c = 'x';
    wrong += write(pipes[1], &c, 1) != 1;
    wrong += read(pipes[0], &c, 1) != 1;
  }
  setitimer(ITIMER_REAL, &off, 0);
  printf("undisturbed %d\n", wrong);
}

int main(void) {
  sent();
  blocked();
  blocked_faults();
  timer();
  undisturbed();
  faults();
  other_stack();
  interrupted();
  dying();
  return 0;
}
