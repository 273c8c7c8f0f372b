/* Addresses of functions carry tags in their low bits, since the functions ask for an alignment. */
#include <stdint.h>
#include <stdio.h>

#define FUNCTION(name, alignment, factor)                              \
  __attribute__((aligned(alignment), noinline)) int name(int x) {      \
    if (x > factor) return x * factor;                                 \
    if (x < -factor) return x / factor;                                \
    return x + factor;                                                 \
  }
FUNCTION(of32, 32, 2)
FUNCTION(of64, 64, 3)
FUNCTION(of4096, 4096, 5)
FUNCTION(other64, 64, 7)

static uintptr_t tagged(int (*f)(int), unsigned tag) { return (uintptr_t)f | tag; }

int main(void) {
  const uintptr_t all[] = {tagged(of32, 1), tagged(of64, 21), tagged(of4096, 17), tagged(other64, 9)};
  const uintptr_t most[] = {32, 64, 4096, 64};
  int sum = 0;
  for (int i = 0; i < 40; i++) {
    const uintptr_t each = all[i % 4], mask = most[i % 4] - 1;
    printf("%d %d\n", (int)(each & mask), ((int (*)(int))(each & ~mask))(i - 20));
    sum += i;
  }
  return sum != 780;
}
