// Linked with dynamic_main.
#include <string.h>

int linked_counter = 3;
__thread int linked_own = 7;
static char order[16];
__attribute__((constructor)) static void start(void) { strcat(order, "started"); }
const char *linked_order(void) { return order; }
int linked_add(int a, int b) { return a + b + linked_counter; }
int linked_call(int (*function)(int), int value) { return function(value); }
static int twice(int x) { return 2 * x; }
// A jump table.
int linked_choose(int which, int x) {
  switch (which) {
    case 0: return linked_add(x, 1);
    case 1: return linked_call(twice, x);
    case 2: linked_counter++; return x;
    case 3: return x * linked_counter;
    case 4: return (int)strlen(order) - x;
    case 5: return linked_add(x, x);
    case 7: linked_own++; return linked_own;
    default: return -x;
  }
}
