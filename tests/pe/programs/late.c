// late.dll: imported with delay, or loaded by name.
#include "names.h"

double late_sum(double a, int b, double c, long d) {
  return a + b * c - d;
}

int late_number(int n) {
  return n < 2 ? n : late_number(n - 1) + late_number(n - 2);
}

int DllMain(void* library, int reason, void* reserved) {
  (void)library;
  printf("late.dll: %d%s\n", reason, reserved ? " by the process" : "");
  fflush(stdout);
  return 1;
}
