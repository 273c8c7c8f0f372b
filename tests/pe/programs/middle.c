// middle.dll: imports from counting.dll, and also forwards its exports.
#include "names.h"

int count_up(int by);
int without_name(int a, int b);
extern uint32_t __imp_shared_value;

int twice(int by) {
  return count_up(by) + count_up(by);
}

int mixed(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum = without_name(i, sum + i);
  return sum + IMPORTED(int, __imp_shared_value);
}

int DllMain(void* library, int reason, void* reserved) {
  (void)library;
  (void)reserved;
  printf("middle.dll: %d, %d\n", reason, count_up(0));
  fflush(stdout);
  return 1;
}
