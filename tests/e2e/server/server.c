/* A server for tests: each client sends a number and gets the result of so much work.

     server SOCKET plain                  one process, one client after another
     server SOCKET threads                a thread for each client
     server SOCKET forks                  a process for each client, which the kernel takes away
     server SOCKET workers [PIDS]         two workers and a master, which replaces workers that die
     server SOCKET daemon [PIDS]          the same in the background: forked twice
     server SOCKET deaf                   plain, but SIGTERM does nothing
     server SOCKET fails                  ends at once with status 3 and a sentence

     server N work                        does so much work without a client

   PIDS: a file for the numbers of master and workers. KIND is a fault: 0 none; 1 another result; 2 works longer; 3 the
   process that works dies at numbers that are multiples of 10; 4 dies at start. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int* nothing;
static volatile sig_atomic_t stops;
static int listener;
static pid_t workers[2];

static long rare(long x) {
  return x * 3;
}

static long work(long n) {
  long sum = 0;
  if (KIND == 3 && n % 10 == 0) *nothing = 1;
  for (int round = 0; round < (KIND == 2 ? 3 : 1); round++) {
    sum = KIND == 1;
    for (long i = 0; i < n * 20000; i++)
      sum = __builtin_expect(i % 64 == 63, 1) ? rare(sum) ^ (sum >> 7) : sum + (i ^ (sum >> 3));
  }
  return sum;
}

static void* serve(void* client) {
  const int connection = (int)(long)client;
  char text[64] = "";
  for (size_t size = 0; size + 1 < sizeof text && !strchr(text, '\n');) {
    const ssize_t got = read(connection, text + size, sizeof text - 1 - size);
    if (got <= 0) break;
    size += (size_t)got;
  }
  const int size = snprintf(text, sizeof text, "%ld\n", work(atol(text)));
  if (write(connection, text, (size_t)size) < 0) stops = 1;
  close(connection);
  return NULL;
}

static void stop(int number) {
  stops = number;
}

static void serve_all(const char* way) {
  while (!stops) {
    const long client = accept(listener, NULL, NULL);
    if (client < 0) continue;
    if (!strcmp(way, "threads")) {
      pthread_t thread;
      pthread_create(&thread, NULL, serve, (void*)client);
      pthread_detach(thread);
    } else if (!strcmp(way, "forks")) {
      if (fork() == 0) {
        serve((void*)client);
        _exit(0);
      }
      close((int)client);
    } else {
      serve((void*)client);
    }
  }
}

static pid_t start_worker(void) {
  const pid_t worker = fork();
  if (worker != 0) return worker;
  signal(SIGTERM, SIG_DFL);
  serve_all("plain");
  _exit(0);
}

static void note(const char* file) {
  if (file == NULL) return;
  FILE* out = fopen(file, "w");
  fprintf(out, "%d %d %d\n", (int)getpid(), (int)workers[0], (int)workers[1]);
  fclose(out);
}

static int be_master(const char* file) {
  for (int i = 0; i < 2; i++) workers[i] = start_worker();
  note(file);
  while (!stops) {
    const pid_t died = wait(NULL);
    for (int i = 0; i < 2 && !stops; i++)
      if (died == workers[i]) workers[i] = start_worker();
    if (died > 0) note(file);
  }
  signal(SIGTERM, SIG_IGN);
  kill(0, SIGTERM);  /* as lighttpd does */
  while (wait(NULL) > 0) {
  }
  return 0;
}

int main(int count, char** arguments) {
  const char *path = arguments[1], *way = arguments[2], *file = count > 3 ? arguments[3] : NULL;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!strcmp(way, "fails")) {
    fprintf(stderr, "server: starting\nserver: no such configuration\n");
    return 3;
  }
  if (!strcmp(way, "work")) return work(atol(path)) < 0;  /* training, without a client */
  if (KIND == 4) *nothing = 1;
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  unlink(path);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 64) != 0) {
    perror("server");
    return 1;
  }
  struct sigaction action = {.sa_handler = stop};
  sigaction(SIGTERM, &action, NULL);
  if (!strcmp(way, "deaf")) signal(SIGTERM, SIG_IGN);
  if (!strcmp(way, "forks")) signal(SIGCHLD, SIG_IGN);
  if (!strcmp(way, "daemon")) {
    if (fork() != 0) _exit(0);
    setsid();
    if (fork() != 0) _exit(0);
  }
  if (!strcmp(way, "daemon") || !strcmp(way, "workers")) return be_master(file);
  serve_all(way);
  return 0;
}
