/* fork, wait, pipes, exec of a host program, atexit in parent and child, _exit, vfork-like use. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int level;

static void goodbye(void) {
  printf("goodbye from level %d\n", level);
}
static void first(void) {
  printf("registered first, runs last\n");
}
__attribute__((constructor)) static void born(void) {
  printf("constructor\n");
}
__attribute__((constructor(200))) static void born_early(void) {
  printf("early constructor\n");
}
__attribute__((destructor)) static void died(void) {
  printf("destructor at level %d\n", level);
}

static unsigned long work(unsigned long n) {
  unsigned long h = n;
  for (unsigned long i = 0; i < 3000 * n; i++) h = h * 6364136223846793005UL + i;
  return h;
}

static int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* A call that returns twice and a call that never returns, in one procedure: they cancel out. */
static volatile int spawned;
__attribute__((noinline, noclone)) static pid_t spawn(void) {
  spawned++;
  return fork();
}
__attribute__((noinline, noclone)) static void run_child(int number) {
  if (number < 0) return;
  _exit(number);
}
__attribute__((noinline, noclone)) static int serve(int children) {
  int sum = 0;
  for (int i = 0; i < children; i++) {
    pid_t child = spawn();
    if (child == 0) {
      run_child(i);
      sum += 1000;
    } else {
      sum += wait_for(child);
    }
  }
  return sum;
}

int main(void) {
  atexit(first);
  atexit(goodbye);
  int pipes[2];
  for (int i = 1; i <= 4; i++) {
    if (pipe(pipes)) return 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      close(pipes[0]);
      level = i;
      unsigned long result = work((unsigned long)i);
      if (write(pipes[1], &result, sizeof result) != sizeof result) _exit(99);
      if (i == 3) abort();
      if (i == 4) exit(i * 11);
      _exit(i);
    }
    close(pipes[1]);
    unsigned long result = 0;
    if (read(pipes[0], &result, sizeof result) != sizeof result) return 2;
    close(pipes[0]);
    printf("child %d: %016lx status %d\n", i, result, wait_for(child));
  }
  fflush(stdout);
  printf("served %d\n", serve(5));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/echo", "echo", "from", "exec", (char*)0);
    _exit(98);
  }
  printf("exec status %d\n", wait_for(child));
  fflush(stdout);
  printf("system status %d\n", WEXITSTATUS(system("exit 7")));
  FILE* from = popen("echo one two", "r");
  char line[64] = "";
  if (!from || !fgets(line, sizeof line, from)) return 3;
  printf("popen said %s", line);
  return pclose(from) + 5;
}
