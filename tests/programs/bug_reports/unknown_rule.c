#include <stdio.h>
long odd(long x);
__attribute__((noinline)) static long other(long x) {
  if (x > 4) return x * 3;
  return x - 1;
}
int main(void) {
  for (long i = -2; i < 8; i++) printf("%ld %ld\n", odd(i), other(i));
  return 0;
}
