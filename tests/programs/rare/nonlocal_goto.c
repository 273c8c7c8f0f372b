/* Nested functions that leave by a goto into their parent, whose frame they get back.
   build: -O0
   build: -O2
   build: -O2 -fPIC -Wl,--no-relax
   build: -O2 STATIC
   rewritten: outer
   rewritten: leaves.0 */
#include <stdio.h>
__attribute__((noinline)) static long call(void (*f)(long), long x) { f(x); return x; }
__attribute__((noinline)) long outer(const unsigned char *p, int n) {
  __label__ out;
  long sum = 0, calls = 0;
  __attribute__((noinline)) void leaves(long v) {
    calls++;
    if (v > 90) { sum += v; goto out; }
    sum += v / (calls + 1);
  }
  for (int i = 0; i < n; i++) calls += call(leaves, p[i]) & 1;
  return sum;
out:
  return sum + 1000 * calls;
}
int main(void) {
  unsigned char p[50];
  unsigned long seed = 4, sum = 0;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 50; i++) seed = seed * 6364136223846793005ul + 1, p[i] = (seed >> 40) % (round & 1 ? 95 : 90);
    sum = sum * 31 + outer(p, 50);
  }
  printf("%lu\n", sum);
  return sum & 31;
}
