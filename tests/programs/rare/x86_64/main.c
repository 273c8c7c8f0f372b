/* Calls the procedure `tested` of hand-written code, beside which compiled code moves. */
#include <stdio.h>

int tested(int x);

int other(int x) {
  if (x > 3) puts("more than 3");
  return x * 3;
}

int main(int argc, char** argv) {
  (void)argv;
  for (int i = 0; i < 4; ++i) printf("%d %d\n", tested(argc + i), other(i));
  return 0;
}
