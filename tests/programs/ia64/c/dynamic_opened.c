// Opened by dynamic_main.
#include <stdio.h>

int from_program(int x);
int linked_add(int a, int b);
static __thread int own = 9;
static int plus(int x) { return x + own; }
static int minus(int x) { return x - own; }
int (*opened_table[])(int) = {plus, minus};
__attribute__((constructor)) static void start(void) { puts("opened"); }
__attribute__((destructor)) static void stop(void) { puts("closed"); }
int opened_run(int x) { return from_program(x) + linked_add(x, ++own) + opened_table[0](x); }
