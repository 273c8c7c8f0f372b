// A program with shared libraries: one linked, one opened while it runs; thread-local storage in both.
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

extern int linked_counter;
extern __thread int linked_own;
int linked_add(int a, int b);
int linked_call(int (*function)(int), int value);
int linked_choose(int which, int x);
const char *linked_order(void);

static int square(int x) { return x * x; }
int from_program(int x) { return x + 1000; }

static void *other(void *unused) {
  (void)unused;
  linked_own += 5;
  return (void *)(long)linked_own;
}

int main(int argc, char **argv) {
  printf("%s %d\n", linked_order(), linked_add(2, 3));
  linked_counter += 10;
  linked_own = 70;
  printf("%d %d %d\n", linked_counter, linked_call(square, 12), linked_call(abs, -5));
  for (int which = 0; which < 9; which++) printf("%d ", linked_choose(which, which + 4));
  pthread_t thread;
  void *result;
  pthread_create(&thread, 0, other, 0);
  pthread_join(thread, &result);
  printf("%ld %d\n", (long)result, linked_own);
  printf("%.10f %.10f\n", sin(1.0) * argc, pow(2.5, 3.5));
  for (int round = 0; round < 3; round++) {
    void *library = dlopen(argc > 1 ? argv[1] : "./libopened.so", RTLD_NOW);
    if (library == 0) {
      printf("%s\n", dlerror());
      return 1;
    }
    int (*run)(int) = (int (*)(int))dlsym(library, "opened_run");
    int (**table)(int) = (int (**)(int))dlsym(library, "opened_table");
    int ran = run(round);
    printf("%d %d\n", ran, table[1](round));
    printf("%d\n", dlsym(library, "not there") == 0);
    dlclose(library);
  }
  return 4;
}
