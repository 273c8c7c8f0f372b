// Calls: variable arguments, structures by value, function pointers, jumps out of frames, and a register stack that is
// deeper than any processor's.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double sum(int count, ...) {
  va_list list, copy;
  va_start(list, count);
  va_copy(copy, list);
  double total = 0;
  for (int i = 0; i < count; i++) total += i % 2 ? va_arg(list, double) : va_arg(list, int);
  for (int i = 0; i < count; i++) total += 2 * (i % 2 ? va_arg(copy, double) : va_arg(copy, int));
  va_end(list);
  va_end(copy);
  return total;
}

struct Small { char c; short s; };
struct Large { long v[12]; double d; };
struct Floats { float x, y, z; };

__attribute__((noinline)) static struct Large grow(struct Large l, struct Small s, struct Floats f, long extra) {
  for (int i = 0; i < 12; i++) l.v[i] += s.c + s.s * i + extra;
  l.d += f.x * f.y + f.z;
  return l;
}

__attribute__((noinline)) static uint64_t many(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                                               uint64_t h, uint64_t i, uint64_t j, double k, float l) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + (uint64_t)(k * l);
}

// Many values alive over the call: large register frames.
__attribute__((noinline)) static uint64_t deep(uint64_t n, uint64_t x) {
  uint64_t a = x * 3 + n, b = a ^ x, c = b + a * 5, d = c ^ (n << 3), e = d + b, f = e * 7, g = f ^ c, h = g + d;
  if (n == 0) return a + b + c + d;
  uint64_t below = deep(n - 1, h);
  return below ^ (a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8);
}

static jmp_buf back;
__attribute__((noinline)) static void jump_out(int depth) {
  volatile int local[8] = {depth};
  if (depth == 0) longjmp(back, 42);
  jump_out(depth - 1);
  local[1] = local[0];
}

__attribute__((noinline)) static int jumps(void) {
  int count = 0;
  for (volatile int i = 0; i < 50; i++) {
    int value = setjmp(back);
    if (value == 0) jump_out(i * 7);
    else count += value;
  }
  return count;
}

static int descending(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}
static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

typedef int (*Operation)(int, int);
static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a - b; }
static int times(int a, int b) { return a * b; }

static uint64_t ackermann(uint64_t m, uint64_t n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

int main(int argc, char **argv) {
  printf("%d %s\n", argc, argc > 1 ? argv[1] : "none");
  printf("%.3f\n", sum(20, 1, 2.5, 3, 4.5, 5, 6.5, 7, 8.5, 9, 10.5, 11, 12.5, 13, 14.5, 15, 16.5, 17, 18.5, 19, 20.5));
  struct Large l = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 0.5};
  l = grow(l, (struct Small){3, -5}, (struct Floats){1.5f, 2.5f, -1}, 100);
  printf("%ld %ld %g\n", l.v[0], l.v[11], l.d);
  printf("%llu\n", (unsigned long long)many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2.5, 4));
  printf("%016llx %016llx\n", (unsigned long long)deep(20000, 1), (unsigned long long)deep(7, 3));
  printf("%d\n", jumps());
  int numbers[500];
  for (int i = 0; i < 500; i++) numbers[i] = (i * 7919) % 1009;
  qsort(numbers, 500, sizeof *numbers, descending);
  printf("%d %d %d\n", numbers[0], numbers[250], numbers[499]);
  char *names[] = {"pear", "apple", "fig", "quince", "banana"};
  qsort(names, 5, sizeof *names, by_name);
  printf("%s %s %s\n", names[0], names[2], names[4]);
  Operation operations[] = {plus, minus, times};
  int value = 1;
  for (int i = 0; i < 30; i++) value = operations[i % 3](value, i + 2) & 0xffff;
  printf("%d\n", value);
  printf("%llu\n", (unsigned long long)ackermann(2, 300));
  char text[200];
  snprintf(text, sizeof text, "%5d|%-8s|%08.3f|%x|%c|%%|%lld|%+d|%e", 42, "left", 3.14159, 48879u, 'z', 1234567890123LL, 7, 12345.678);
  puts(text);
  int a, b;
  double c;
  int fields = sscanf("12 0x1f 2.75", "%d %i %lf", &a, &b, &c);
  printf("%d %d %d %g\n", fields, a, b, c);
  return (int)(strlen(text) % 100);
}
