/* A library of start_code_test.py: it counts, and its own initializer runs after the start code. */

#include <stdint.h>
#include <stdio.h>

extern volatile uint64_t counters[], last_counter;
static int initialized;

__attribute__((visibility("hidden"))) void library_initializer(int argc, char** argv, char** envp) {
  initialized = argc > 0 && argv != NULL && argv[argc] == NULL && envp == argv + argc + 1;
}

void library_count(uint64_t number) {
  counters[0] += number;
  last_counter += 2 * number;
  printf("library %s %lu %lu %lu\n", initialized ? "initialized" : "plain", counters[0],
         counters[1], last_counter);
  fflush(stdout);
}
