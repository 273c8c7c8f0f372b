// Calls: deep recursion, many arguments, structures, pointers to functions, and a sort.
#include "runtime.h"

__attribute__((noinline)) static uint64_t deep(uint64_t n, uint64_t x) {
  uint64_t a = x * 3 + n, b = a ^ x, c = b + a * 5, d = c ^ n << 3, e = d + b, f = e * 7, g = f ^ c, h = g + d;
  if (n == 0) return a + b + c + d;
  uint64_t below = deep(n - 1, h);
  return below ^ (a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8);
}

__attribute__((noinline)) static uint64_t many(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                                               uint64_t h, uint64_t i, uint64_t j, double k) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + (uint64_t)(k * 3);
}

struct Large { uint64_t v[10]; double d; };
__attribute__((noinline)) static struct Large change(struct Large l, uint64_t by) {
  for (int i = 0; i < 10; i++) l.v[i] ^= by * (uint64_t)i;
  l.d *= 1.5;
  return l;
}

typedef uint64_t (*Operation)(uint64_t, uint64_t);
static uint64_t plus(uint64_t a, uint64_t b) { return a + b; }
static uint64_t times(uint64_t a, uint64_t b) { return a * b; }
static uint64_t ackermann(uint64_t m, uint64_t n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static uint64_t numbers[300];
static void sort(uint64_t *v, long low, long high, int (*less)(uint64_t, uint64_t)) {
  if (low >= high) return;
  uint64_t pivot = v[(low + high) / 2];
  long i = low, j = high;
  while (i <= j) {
    while (less(v[i], pivot)) i++;
    while (less(pivot, v[j])) j--;
    if (i > j) break;
    uint64_t t = v[i];
    v[i++] = v[j];
    v[j--] = t;
  }
  sort(v, low, j, less);
  sort(v, i, high, less);
}
static int below(uint64_t a, uint64_t b) { return a < b; }
static int above(uint64_t a, uint64_t b) { return a > b; }

int program(void) {
  put("calls\n");
  put_hex(deep(10, 1));
  put_hex(deep(15000, 1));
  put_hex(many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2.5));
  struct Large l = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2.0};
  for (uint64_t i = 0; i < 20; i++) l = change(l, i * 77);
  put_hex(l.v[3] + l.v[9]);
  put_double(l.d);
  Operation operations[] = {plus, times};
  uint64_t value = 3;
  for (uint64_t i = 0; i < 50; i++) value = operations[i & 1](value, i + 3);
  put_hex(value);
  put_hex(ackermann(2, 50));
  for (int order = 0; order < 2; order++) {
    for (uint64_t i = 0; i < 300; i++) numbers[i] = i * 7919 % 1009;
    sort(numbers, 0, 299, order ? below : above);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 300; i++) sum = sum * 31 + numbers[i];
    put_hex(sum);
  }
  return 5;
}
