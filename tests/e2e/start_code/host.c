/* The host of start_code_test.py. The first argument says what it does, and how it ends; it counts
   in its own counters, and in those of libraries (library.c). It exits with 99 when the start code
   changed a register, else with 3. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef STATIC
#include <dlfcn.h>
#endif

#ifdef INSTRUMENTED
extern volatile uint64_t counters[], last_counter;
extern uint64_t values[REGISTERS], results[REGISTERS];
#else
static volatile uint64_t counters[2], last_counter;
#endif

static void check_registers(void) {
#ifdef INSTRUMENTED
  int bad = 0;
  for (int i = 0; i < REGISTERS; ++i) {
    if (results[i] == values[i]) continue;
    printf("register %d: %#lx instead of %#lx\n", i, results[i], values[i]);
    bad = 1;
  }
  if (bad) exit(99);
#endif
}

static void count(uint64_t number) {
  counters[0] += number;
  last_counter += 2 * number;
}

static void print_counters(void) {
  printf("counters %lu %lu %lu\n", counters[0], counters[1], last_counter);
  fflush(stdout);
}

/* Descriptors and mappings, to see what the start code left. */
static void print_traces(void) {
  const int file = open("/dev/null", O_RDONLY);
  printf("descriptor %d\n", file);
  close(file);
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  int lines = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    ++lines;
    if (strstr(line, ".counts") != NULL) printf("map %s", line);
  }
  printf("maps %d\n", lines);
#ifdef INSTRUMENTED
  printf("at %lx-%lx\n", (unsigned long)counters, (unsigned long)(&last_counter + 1));
#endif
}

#ifndef STATIC
static void load_libraries(int number, char** names) {
  for (int i = 0; i < number; ++i) {
    void* library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      printf("%s\n", dlerror());
      exit(98);
    }
    void (*library_count)(uint64_t) = (void (*)(uint64_t))dlsym(library, "library_count");
    library_count(10 + i);
  }
}

static int stop;
static void* work(void* unused) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) free(malloc(100));
  return unused;
}

static volatile sig_atomic_t ticks;
static void tick(int signal) {
  (void)signal;
  ++ticks;
}
#endif

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "exit";
  check_registers();
  count(5);
  print_counters();
  if (strcmp(mode, "_exit") == 0) _exit(3);
  if (strcmp(mode, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(mode, "crash") == 0) *(volatile int*)8 = 1;
  if (strcmp(mode, "abort") == 0) abort();
  if (strcmp(mode, "exec") == 0) execl("/bin/sh", "sh", "-c", "exit 3", NULL);
  if (strcmp(mode, "traces") == 0) print_traces();
  if (strcmp(mode, "wait") == 0) {
    getchar();
    count(1);
  }
  if (strcmp(mode, "fork") == 0 || strcmp(mode, "vfork") == 0) {
    const pid_t child = mode[0] == 'v' ? vfork() : fork();
    if (child == 0) {
      count(100);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    count(1000);
    print_counters();
  }
#ifndef STATIC
  if (strcmp(mode, "load") == 0) load_libraries(argc - 2, argv + 2);
  if (strcmp(mode, "load-threads") == 0) {
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, NULL);
    load_libraries(argc - 2, argv + 2);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  }
  if (strcmp(mode, "load-ticks") == 0) {
    struct sigaction action = {.sa_handler = tick};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    load_libraries(argc - 2, argv + 2);
    while (ticks == 0) pause();
    setitimer(ITIMER_REAL, &never, NULL);
  }
#endif
  return 3;
}
