#include <stdio.h>
long run(long (*f)(long), long x);
extern char stop_info[];
__attribute__((noinline)) static long other(long x) {
  if (x > 4) return x * 3;
  return x - 1;
}
int main(void) {
  for (long i = 0; i < 8; i++) printf("%ld %ld\n", run((long (*)(long))stop_info, i), other(i));
  return 0;
}
