/* Prints all that a program can see of how it was started; built for the host and for Alpha, and
   with -DSUBSTITUTE, whose first line differs. Arguments: "exec N": executes itself N times more;
   "wait": prints its process number and waits for signals, which it names. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

/* By name: machines number signals differently. */
static void on_signal(int number) {
  const char* text = number == SIGHUP    ? "signal HUP\n"
                     : number == SIGINT  ? "signal INT\n"
                     : number == SIGUSR1 ? "signal USR1\n"
                     : number == SIGUSR2 ? "signal USR2\n"
                     : number == SIGTERM ? "signal TERM\n"
                                         : "another signal\n";
  if (write(1, text, strlen(text)) < 0 || number == SIGTERM) _exit(40);
}

static void print_link(const char* name) {
  char path[4096];
  const ssize_t size = readlink(name, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = 0;
  printf("%s %s\n", name, path);
}

static void print_surroundings(char** arguments) {
  for (int i = 0; arguments[i]; i++) printf("argument %s\n", arguments[i]);
  for (char** variable = environ; *variable; variable++) printf("variable %s\n", *variable);
  print_link("/proc/self/exe");
  print_link("/proc/self/cwd");
  const char* executed = (const char*)getauxval(AT_EXECFN);
  printf("executed %s\n", executed);
  struct stat status;
  printf("there %d\n", stat(arguments[0], &status) == 0 && status.st_mode & 0100);
  printf("ids %d %d %d %d\n", getuid(), geteuid(), getgid(), getegid());
  printf("parent %d group %d session %d\n", getppid(), getpgrp(), getsid(0));
  for (int i = 0; i < 64; i++)
    if (fcntl(i, F_GETFD) >= 0) printf("file %d\n", i);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("limit %ld nice %d mask %o\n", (long)limit.rlim_cur, getpriority(PRIO_PROCESS, 0), umask(0));
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  for (int i = 1; i < 32; i++) {
    struct sigaction action;
    sigaction(i, NULL, &action);
    if (action.sa_handler != SIG_DFL || sigismember(&blocked, i))
      printf("signal %d ignored %d blocked %d\n", i, action.sa_handler == SIG_IGN,
             sigismember(&blocked, i));
  }
  sigset_t pending;
  sigpending(&pending);
  for (int i = 1; i < 32; i++)
    if (sigismember(&pending, i)) printf("pending %d\n", i);
}

int main(int count, char** arguments) {
#ifdef SUBSTITUTE
  puts("substitute");
#else
  puts("original");
#endif
  if (count > 1 && !strcmp(arguments[1], "wait")) {
    for (int i = 1; i < 32; i++) signal(i, i == SIGCHLD || i == SIGCONT ? SIG_DFL : on_signal);
    printf("%d\n", getpid());
    fflush(stdout);
    for (;;) pause();
  }
  if (count > 1 && !strcmp(arguments[1], "die")) raise(atoi(arguments[2]));
  print_surroundings(arguments);
  fflush(stdout);
  if (count > 2 && !strcmp(arguments[1], "exec") && atoi(arguments[2]) > 0) {
    char number[16];
    sprintf(number, "%d", atoi(arguments[2]) - 1);
    char* next[] = {"another name", "exec", number, NULL};
    execv(arguments[3] ? arguments[3] : "/proc/self/exe", next);
    printf("exec: %s\n", strerror(errno));
  }
  return 41;
}
