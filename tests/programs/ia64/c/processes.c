// Processes: fork, exec, pipes, spawn with its errors, vfork.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int status_of(pid_t child) {
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    const char *second = argc > 2 && argv[2][0] != '/' ? argv[2] : "";  // a script's name is made up
    printf("%s: %d %s %s\n", argv[1], argc, second, getenv("KIND") ? getenv("KIND") : "none");
    return argc + 20;
  }
  char own[4096];
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  own[length > 0 ? length : 0] = 0;
  setvbuf(stdout, 0, _IONBF, 0);

  int ends[2];
  if (pipe(ends) != 0) return 1;
  pid_t child = fork();
  if (child == 0) {
    char reply[] = "from the child";
    _exit(write(ends[1], reply, sizeof reply) == sizeof reply ? 9 : 1);
  }
  char buffer[64] = "";
  ssize_t got = read(ends[0], buffer, sizeof buffer);
  int status = status_of(child);
  printf("fork %d %s %d\n", (int)got, buffer, status);

  child = fork();
  if (child == 0) {
    char *arguments[] = {"self", "exec", "one two", 0}, *environment[] = {"KIND=given", 0};
    execve(own, arguments, environment);
    _exit(99);
  }
  printf("exec %d\n", status_of(child));

  child = vfork();
  if (child == 0) {
    execl(own, own, "vfork", (char *)0);
    _exit(98);
  }
  printf("vfork %d\n", status_of(child));

  char *arguments[] = {own, "spawn", 0};
  int result = posix_spawn(&child, own, 0, 0, arguments, environ);
  status = status_of(child);
  printf("spawn %d %d\n", result, status);
  printf("spawn error %d\n", posix_spawn(&child, "/nowhere/at/all", 0, 0, arguments, environ) == ENOENT);
  execl("/nowhere/at/all", "x", (char *)0);
  printf("exec error %d\n", errno == ENOENT);

  printf("system %d\n", WEXITSTATUS(system("exit 7")));
  FILE *pipe_in = popen("echo through a shell", "r");
  if (pipe_in == 0 || fgets(buffer, sizeof buffer, pipe_in) == 0) return 2;
  printf("popen %s", buffer);
  pclose(pipe_in);

  char script[] = "/tmp/respike-script-XXXXXX";
  int file = mkstemp(script);
  dprintf(file, "#!%s script\n", own);
  fchmod(file, 0700);
  close(file);
  child = fork();
  if (child == 0) {
    execl(script, script, (char *)0);
    _exit(97);
  }
  status = status_of(child);
  unlink(script);
  printf("script %d\n", status);

  // A tree of processes.
  for (int i = 0; i < 3; i++) fork();
  int children = 0;
  while (wait(0) > 0) children++;
  if (children != 3) _exit(0);
  printf("tree %d\n", children);
  return 6;
}
