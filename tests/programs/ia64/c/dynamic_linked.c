// Linked with dynamic_main.
#include <string.h>

int linked_counter = 3;
__thread int linked_own = 7;
static char order[16];
__attribute__((constructor)) static void start(void) { strcat(order, "started"); }
const char *linked_order(void) { return order; }
int linked_add(int a, int b) { return a + b + linked_counter; }
int linked_call(int (*function)(int), int value) { return function(value); }
