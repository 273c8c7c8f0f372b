/* Prints the traces that a program sees of its start, a line for each row of the table in
   docs/environment.md: KEY, a tab, VALUE. tests/e2e/identity_test.py compares the values.

   seen --end: ends at once, with status 5.
   seen --wait: prints its process number, and waits for the end of its input. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void begin(const char* key) { printf("%s\t", key); }
static void end(void) { putchar('\n'); }

static void print_link(const char* key, const char* name) {
  char path[4096];
  const ssize_t size = readlink(name, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = 0;
  printf("%s\t%s\n", key, path);
}

/* The bytes of a file, with blanks for zeros and ends of lines. */
static void print_file(const char* key, const char* name) {
  begin(key);
  FILE* file = fopen(name, "r");
  for (int c; file && (c = fgetc(file)) != EOF;) putchar(c == 0 || c == '\n' ? ' ' : c);
  if (file) fclose(file);
  end();
}

/* A line of /proc/self/status. */
static void print_status(const char* key, const char* field) {
  char line[4096];
  FILE* file = fopen("/proc/self/status", "r");
  begin(key);
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field))) printf("%.*s", (int)strcspn(line, "\n"), line);
  if (file) fclose(file);
  end();
}

static unsigned long sum_of(const char* name) {
  unsigned long sum = 0;
  FILE* file = fopen(name, "r");
  for (int c; file && (c = fgetc(file)) != EOF;) sum = sum * 31 + (unsigned)c;
  if (file) fclose(file);
  return sum;
}

static int print_name(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  printf("%s ", info->dlpi_name);
  return 0;
}

static int print_build_id(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_NOTE) continue;
    const char* at = (const char*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const char* stop = at + info->dlpi_phdr[i].p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= stop) {
      const ElfW(Nhdr)* note = (const ElfW(Nhdr)*)at;
      const unsigned char* text = (const unsigned char*)at + sizeof *note + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID)
        for (unsigned b = 0; b < note->n_descsz; b++) printf("%02x", text[b]);
      at = (const char*)text + ((note->n_descsz + 3) & ~3u);
    }
  }
  return 1; /* of the program alone */
}

/* Names of the files that are mapped. */
static void print_mapped(void) {
  char line[4096], last[4096] = "";
  begin("files in /proc/self/maps");
  FILE* file = fopen("/proc/self/maps", "r");
  while (file && fgets(line, sizeof line, file)) {
    char* path = strchr(line, '/');
    if (!path) continue;
    path[strcspn(path, "\n")] = 0;
    if (strcmp(path, last)) printf("%s ", path);
    strcpy(last, path);
  }
  if (file) fclose(file);
  end();
}

static void print_limits(void) {
  begin("limits");
  for (int i = 0; i < 16; i++) {
    struct rlimit limit;
    if (getrlimit(i, &limit) == 0) printf("%llu %llu, ", (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
  }
  end();
}

static void print_signals(void) {
  sigset_t blocked, pending;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  sigpending(&pending);
  begin("signals");
  for (int i = 1; i < 64; i++) {
    struct sigaction action;
    if (sigaction(i, NULL, &action) != 0) continue;
    if (action.sa_handler != SIG_DFL || sigismember(&blocked, i) == 1 || sigismember(&pending, i) == 1)
      printf("%d %d %d %d, ", i, action.sa_handler == SIG_IGN, sigismember(&blocked, i), sigismember(&pending, i));
  }
  end();
}

static void print_open_files(void) {
  begin("open files");
  for (int i = 0; i < 256; i++)
    if (fcntl(i, F_GETFD) >= 0) printf("%d ", i);
  end();
}

static void print_parent(void) {
  char name[64], path[64];
  snprintf(path, sizeof path, "/proc/%d/comm", getppid());
  print_file("parent", path);
  snprintf(name, sizeof name, "%d %d", getpgrp() == getpgid(getppid()), getsid(0) == getsid(getppid()));
  printf("process group and session\t%s %d %d\n", name, getpgrp() == getpid(), getsid(0) == getpid());
}

/* ---- the fate of its children ---- */

/* How a child ends that does `work`: an exit status, or "signal N". */
static void print_end(const char* key, void (*work)(char** arguments), char** arguments) {
  int status = 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    work(arguments);
    _exit(99);
  }
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    printf("%s\tsignal %d\n", key, WTERMSIG(status));
  else
    printf("%s\t%d\n", key, WEXITSTATUS(status));
}

static void execute_itself(char** arguments) {
  execv(arguments[0], (char*[]){arguments[0], "--end", NULL});
  _exit(98);
}

/* How often a child that executes this program executes something, as its tracer sees it. */
static void print_traced(char** arguments) {
  int status = 0, executions = 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(97);
    raise(SIGSTOP);
    execute_itself(arguments);
  }
  waitpid(child, &status, 0);
  if (WIFSTOPPED(status)) ptrace(PTRACE_SETOPTIONS, child, NULL, (void*)PTRACE_O_TRACEEXEC);
  while (WIFSTOPPED(status)) {
    executions += status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    if (waitpid(child, &status, 0) < 0) break;
  }
  printf("executions that a tracer sees\t%d, status %x\n", executions, status);
}

/* From now on the system calls fail with EPERM. */
static void forbid(int first, int second) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(95);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(96);
}

static void call_behind_filter(char** arguments) {
  (void)arguments;
  forbid(SYS_getpriority, SYS_sync);
  errno = 0;
  getpriority(PRIO_PROCESS, 0);
  _exit(errno);
}

static void execute_behind_filter(char** arguments) {
  forbid(SYS_mount, SYS_unshare);
  execute_itself(arguments);
}

static void end_in_strict_mode(char** arguments) {
  (void)arguments;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(96);
  syscall(SYS_exit, 6);
}

/* Whether a child that aborts leaves a core file in its folder, and its name without numbers. */
static void print_core(void) {
  int status = 0;
  const struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
  struct rlimit limit;
  if (setrlimit(RLIMIT_CORE, &most) != 0 && getrlimit(RLIMIT_CORE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    mkdir("cores", 0700);
    if (chdir("cores") != 0) _exit(97);
    abort();
  }
  waitpid(child, &status, 0);
  printf("core file\tsignal %d, written %d:", WTERMSIG(status), !!WCOREDUMP(status));
  DIR* folder = opendir("cores");
  for (struct dirent* entry; folder && (entry = readdir(folder));) {
    char path[512];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "cores/%s", entry->d_name);
    unlink(path);
    putchar(' ');
    for (const char* c = entry->d_name; *c; c++)
      if (*c < '0' || *c > '9') putchar(*c);
  }
  if (folder) closedir(folder);
  rmdir("cores");
  end();
}

/* The user as which a set-uid program beside this one runs; "missing" when there is none. */
static void print_set_uid(const char* own) {
  char path[4096], line[64] = "missing";
  snprintf(path, sizeof path, "%.*s/set-uid", (int)(strrchr(own, '/') - own), own);
  struct stat status;
  if (stat(path, &status) == 0 && status.st_mode & S_ISUID) {
    fflush(stdout);
    FILE* child = popen(path, "r");
    if (!child || !fgets(line, sizeof line, child)) strcpy(line, "nothing");
    if (child) pclose(child);
  }
  printf("a set-uid program that it starts\t%s\n", line);
}

int main(int count, char** arguments) {
  if (count > 1 && !strcmp(arguments[1], "--end")) return 5;
  if (count > 1 && !strcmp(arguments[1], "--wait")) {
    printf("%d\n", getpid());
    fflush(stdout);
    while (getchar() != EOF) continue;
    return 7;
  }
  begin("arguments");
  for (int i = 0; i < count; i++) printf("[%s]", arguments[i]);
  end();
  begin("environment");
  for (char** variable = environ; *variable; variable++) printf("[%s]", *variable);
  end();
  const char* executed = (const char*)getauxval(AT_EXECFN);
  printf("AT_EXECFN\t%s\n", executed ? executed : "");
  printf("AT_SECURE and identity in the auxiliary vector\t%lu %lu %lu\n", getauxval(AT_SECURE), getauxval(AT_UID), getauxval(AT_EGID));
  printf("AT_PHNUM\t%lu\n", getauxval(AT_PHNUM));
  print_link("/proc/self/exe", "/proc/self/exe");
  print_link("/proc/self/cwd", "/proc/self/cwd");
  print_link("/proc/self/root", "/proc/self/root");
  print_file("/proc/self/cmdline", "/proc/self/cmdline");
  print_file("/proc/self/comm", "/proc/self/comm");
  print_mapped();
  struct stat own = {0}, executed_file = {0}, root = {0};
  stat(arguments[0], &own);
  stat("/proc/self/exe", &executed_file);
  stat("/", &root);
  printf("size and inode of its own file\t%llu %llu\n", (unsigned long long)own.st_size, (unsigned long long)own.st_ino);
  printf("the file at its path is the executed one\t%d\n",
         own.st_ino == executed_file.st_ino && own.st_dev == executed_file.st_dev);
  printf("mode and owner of its own file\t%o %d %d\n", own.st_mode, own.st_uid, own.st_gid);
  printf("contents of its own file\t%lx\n", sum_of(arguments[0]));
  printf("right to write its own file\t%d\n", access(arguments[0], W_OK));
  printf("owner of others' files\t%d\n", root.st_uid);
  begin("names in dl_iterate_phdr");
  dl_iterate_phdr(print_name, NULL);
  end();
  begin("build ID in memory");
  dl_iterate_phdr(print_build_id, NULL);
  end();
  Dl_info info = {0};
  dladdr((void*)main, &info);
  printf("dladdr of main\t%s %s\n", info.dli_fname ? info.dli_fname : "", info.dli_sname ? info.dli_sname : "");
  printf("user and group\t%d %d %d %d\n", getuid(), geteuid(), getgid(), getegid());
  print_status("groups", "Groups:");
  print_status("capabilities", "CapEff:");
  print_status("no new privileges", "NoNewPrivs:");
  print_status("seccomp", "Seccomp:");
  print_status("tracer", "TracerPid:");
  print_status("threads", "Threads:");
  print_link("mount namespace", "/proc/self/ns/mnt");
  print_link("user namespace", "/proc/self/ns/user");
  print_link("process namespace", "/proc/self/ns/pid");
  print_parent();
  printf("signal at the parent's death\t");
  int death = 0;
  prctl(PR_GET_PDEATHSIG, &death);
  printf("%d\n", death);
  printf("core dumps\t%d\n", prctl(PR_GET_DUMPABLE));
  print_file("core dump filter", "/proc/self/coredump_filter");
  print_limits();
  print_signals();
  print_open_files();
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  print_file("children", path);
  snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
  printf("perf map\t%d\n", access(path, F_OK));
  cpu_set_t processors;
  sched_getaffinity(0, sizeof processors, &processors);
  printf("processors and priority\t%d %d %d\n", CPU_COUNT(&processors), getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
  print_file("oom_score_adj", "/proc/self/oom_score_adj");
  const mode_t mask = umask(0);
  umask(mask);
  printf("mask of modes\t%o\n", mask);
  print_traced(arguments);
  print_end("a seccomp filter of its own", call_behind_filter, arguments);
  print_end("its file executed behind a filter against mounts", execute_behind_filter, arguments);
  print_end("mode strict of seccomp", end_in_strict_mode, arguments);
  print_core();
  print_set_uid(arguments[0]);
  return 7;
}
