/* With resumed.S. */
#include <stdio.h>

int resumed(int value, int kind);

__attribute__((noinline)) int callee(int value) {
  if (value % 3 == 0) return value + 5;
  return value * 2 - (value > 100 ? 7 : 1);
}

int main(void) {
  unsigned sum = 0;
  for (int i = 0; i < 1000; i++) sum = sum * 3 + (unsigned)resumed(i, i % 4 ? i % 7 : -i);
  printf("%u\n", sum);
  return 0;
}
