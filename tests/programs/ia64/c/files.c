// Files, memory maps and waiting for them: the results of system calls.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void files(void) {
  FILE *f = fopen("a file", "w+");
  for (int i = 0; i < 3000; i++) fprintf(f, "line %d\n", i);
  fflush(f);
  struct stat s, l;
  stat("a file", &s);
  printf("%ld %o %d %d\n", (long)s.st_size, s.st_mode & 0170000, (int)s.st_nlink, s.st_mtime > 1000000000);
  symlink("a file", "a link");
  lstat("a link", &l);
  char target[100] = "";
  readlink("a link", target, sizeof target);
  printf("%d %s\n", S_ISLNK(l.st_mode), target);
  char *map = mmap(0, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
  memcpy(map, "LINE", 4);
  printf("%.6s %d\n", map + 7, map[s.st_size]);
  char *private = mmap(0, 40000, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(f), 0);
  private[5] = 'Z';
  printf("%.6s %c\n", private, map[5]);
  munmap(map, (size_t)s.st_size);
  rewind(f);
  char line[100];
  fgets(line, sizeof line, f);
  printf("%s", line);
  fseek(f, -10, SEEK_END);
  fgets(line, sizeof line, f);
  printf("%s", line);
  fclose(f);
  mkdir("folder", 0755);
  for (int i = 0; i < 40; i++) {
    char name[40];
    snprintf(name, sizeof name, "folder/%d", i);
    close(creat(name, 0600));
  }
  int count = 0, sum = 0;
  DIR *d = opendir("folder");
  for (struct dirent *e; (e = readdir(d)) != 0; count++) sum += atoi(e->d_name);
  closedir(d);
  printf("%d %d\n", count, sum);
  char here[4096];
  printf("%d\n", getcwd(here, sizeof here) == here && here[0] == '/');
  rename("a file", "another");
  printf("%d %d\n", access("a file", F_OK), access("another", R_OK));
  int missing = open("nothing here", O_RDONLY);
  printf("%d %d\n", missing, errno == ENOENT);
  truncate("another", 100);
  stat("another", &s);
  struct statvfs v;
  int valid = statvfs(".", &v) == 0 && v.f_bsize > 0;
  printf("%ld %d\n", (long)s.st_size, valid);
  struct timespec times[2] = {{1000, 5}, {2000, 7}};
  utimensat(AT_FDCWD, "another", times, 0);
  stat("another", &s);
  printf("%ld %ld\n", (long)s.st_atim.tv_sec, (long)s.st_mtim.tv_nsec);
  struct iovec v2[3] = {{"one ", 4}, {"two ", 4}, {"three\n", 6}};
  fflush(stdout);
  printf("%d\n", (int)writev(1, v2, 3));
}

/// A pipe's end to write to.
static int ends_of_nothing(void) {
  int ends[2];
  return pipe(ends) == 0 ? ends[1] : -1;
}

static void memory(void) {
  size_t page = 65536;
  char *a = mmap(0, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(a, 'x', 4 * page);
  char *b = mremap(a, 4 * page, 64 * page, MREMAP_MAYMOVE);
  printf("%c %c %d\n", b[0], b[4 * page - 1], b[4 * page]);
  b = mremap(b, 64 * page, page, 0);
  printf("%c %d\n", b[page - 1], mprotect(b, page, PROT_READ));
  munmap(b, page);
  char *big = malloc(100 << 20);
  memset(big, 1, 100 << 20);
  big = realloc(big, 200 << 20);
  printf("%d %d\n", big[50 << 20], big[(100 << 20) - 1]);
  free(big);
  void *before = sbrk(0);
  printf("%d ", sbrk(300000) == before);
  memset(before, 7, 300000);
  sbrk(-300000);
  printf("%d\n", sbrk(0) == before);
  errno = 0;
  int failed = mmap(0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
  printf("%d %d\n", failed, errno == EINVAL);
  failed = (int)write(ends_of_nothing(), (void *)16, 10);
  printf("%d %d\n", failed, errno == EFAULT);
}

static sigjmp_buf out;
static void escape(int signal) { siglongjmp(out, signal); }

/// A private mapping of a file reads zeros up to the end of the page, whatever its size; SIGBUS after it.
static void behind_the_end(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  int file = open("short", O_RDWR | O_CREAT, 0600);
  printf("%d\n", (int)write(file, "text", 4));
  char *map = mmap(0, 2 * page, PROT_READ, MAP_PRIVATE, file, 0);
  int zeros = 0;
  for (size_t i = 4; i < page; i++) zeros += map[i] == 0;
  printf("%.4s %d\n", map, zeros == (int)page - 4);
  signal(SIGBUS, escape);
  const int stopped = sigsetjmp(out, 1);
  if (stopped == 0) printf("%d\n", map[page]);
  else printf("SIGBUS %d\n", stopped == SIGBUS);
  signal(SIGBUS, SIG_DFL);
  munmap(map, 2 * page);
  // An address of the kernel is refused even when nothing is left to read.
#ifdef __ia64__
  void *kernel = (void *)0xe000000000001000;
#else
  void *kernel = (void *)0xffff800000001000;
#endif
  errno = 0;
  const int failed = (int)read(file, kernel, 10);
  printf("%d %d\n", failed, errno == EFAULT);
  close(file);
}

static void waiting(void) {
  int ends[2], pair[2];
  pipe(ends);
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  struct pollfd polls[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLOUT, 0}};
  int ready = poll(polls, 2, 0);
  printf("%d %d %d\n", ready, polls[0].revents, polls[1].revents);
  int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0x123456789abcdef0}, events[4];
  epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
  event.data.u64 = 77;
  epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event);
  printf("%d ", epoll_wait(epoll, events, 4, 0));
  write(ends[1], "x", 1);
  ready = epoll_wait(epoll, events, 4, 1000);
  printf("%d %d\n", ready, events[0].data.u64 == 0x123456789abcdef0);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  struct timeval second = {1, 0};
  ready = select(ends[0] + 1, &set, 0, 0, &second);
  printf("%d %d\n", ready, FD_ISSET(ends[0], &set));
  char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'm';
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &ends[0], sizeof(int));
  printf("%d ", (int)sendmsg(pair[0], &message, 0));
  memset(control, 0, sizeof control);
  byte = 0;
  ready = (int)recvmsg(pair[1], &message, 0);
  printf("%d %c ", ready, byte);
  int received;
  memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
  printf("%d\n", (int)read(received, &byte, 1));
  int event_file = eventfd(3, 0);
  uint64_t value;
  read(event_file, &value, 8);
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec soon = {{0, 0}, {0, 1000000}};
  timerfd_settime(timer, 0, &soon, 0);
  uint64_t expirations;
  read(timer, &expirations, 8);
  printf("%d %d\n", (int)value, (int)expirations);
  int bytes;
  write(ends[1], "12345", 5);
  ioctl(ends[0], FIONREAD, &bytes);
  printf("%d\n", bytes);
}

static void system_facts(void) {
  struct utsname name;
  uname(&name);
#ifdef __ia64__
  printf("%s %d\n", name.sysname, strcmp(name.machine, "ia64"));
#else
  printf("%s %d\n", name.sysname, strcmp(name.machine, "x86_64"));
#endif
  struct rlimit limit;
  int result = getrlimit(RLIMIT_NOFILE, &limit);
  printf("%d %d\n", result, limit.rlim_cur > 0);
  struct rusage usage;
  printf("%d\n", getrusage(RUSAGE_SELF, &usage));
  struct sysinfo info;
  result = sysinfo(&info);
  printf("%d %d\n", result, info.totalram > 0);
  struct timespec a, b, pause = {0, 2000000};
  clock_gettime(CLOCK_MONOTONIC, &a);
  nanosleep(&pause, 0);
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("%d\n", (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 2000000);
  struct timeval now;
  printf("%d\n", gettimeofday(&now, 0) == 0 && labs(now.tv_sec - time(0)) < 2);
  time_t epoch = 1000000000;
  char text[100];
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", gmtime(&epoch));
  puts(text);
  FILE *maps = fopen("/proc/self/maps", "r");
  int lines = 0, found = 0;
  char line[1000];
  unsigned long here = (unsigned long)&lines, from, to;
  while (maps != 0 && fgets(line, sizeof line, maps) != 0) {
    lines++;
    if (sscanf(line, "%lx-%lx", &from, &to) == 2 && here >= from && here < to) found++;
  }
  printf("%d %d\n", lines > 3, found);
  FILE *words = fopen("/proc/self/cmdline", "r");
  int zeros = 0, byte;
  while (words != 0 && (byte = fgetc(words)) != EOF) zeros += byte == 0;
  printf("%d\n", zeros);
  printf("%d\n", getpagesize() >= 4096);
  errno = 0;
  result = getpriority(PRIO_PROCESS, 0);
  printf("%d %d\n", result, errno);
  result = setpriority(PRIO_PROCESS, 0, result + 3) + getpriority(PRIO_PROCESS, 0);
  printf("%d\n", result);
}

static void semaphores(void) {
  struct {
    struct semid_ds status;
    long behind[4];
  } area = {.behind = {1, 2, 3, 4}};
  union {
    int value;
    struct semid_ds *status;
    unsigned short *values;
  } argument = {.status = &area.status};
  int set = semget(IPC_PRIVATE, 3, 0600);
  int result = semctl(set, 0, IPC_STAT, argument);
  printf("%d %ld %o\n", result, (long)area.status.sem_nsems, area.status.sem_perm.mode);
  printf("%d %ld %ld\n", area.status.sem_ctime > 1000000000, area.behind[0], area.behind[1]);
  area.status.sem_perm.mode = 0640;
  result = semctl(set, 0, IPC_SET, argument);
  semctl(set, 0, IPC_STAT, argument);
  printf("%d %o\n", result, area.status.sem_perm.mode);
  unsigned short values[3] = {5, 6, 7};
  argument.values = values;
  result = semctl(set, 0, SETALL, argument);
  struct sembuf take = {2, -4, 0};
  result += semop(set, &take, 1);
  printf("%d %d\n", result, semctl(set, 2, GETVAL));
  printf("%d\n", semctl(set, 0, IPC_RMID));
}

int main(void) {
  char folder[] = "/tmp/respike-files-XXXXXX";
  if (mkdtemp(folder) == 0 || chdir(folder) != 0) return 1;
  files();
  memory();
  behind_the_end();
  waiting();
  system_facts();
  semaphores();
  fflush(stdout);
  char command[200];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}
