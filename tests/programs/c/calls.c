/* Ways to call and to return: varargs, deep and mutual recursion, tail calls through pointers, weak
   symbols, aliases, ifunc-free dispatch tables, alloca, huge frames, nested functions, struct
   returns, qsort and bsearch callbacks, __builtin_return_address, backtrace, atexit. */
#include <alloca.h>
#include <execinfo.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Big {
  long a[12];
  double d;
};
struct Small {
  int x, y;
};
typedef int Operation(int, int);

extern int missing_function(int) __attribute__((weak));
extern int missing_variable __attribute__((weak));
__attribute__((weak)) int weak_default(int x) {
  return x + 1;
}
int strong(int x) {
  return x * 2;
}
int renamed(int) __attribute__((alias("strong")));

static long sum_longs(int count, ...) {
  va_list list, copy;
  va_start(list, count);
  va_copy(copy, list);
  long total = 0;
  for (int i = 0; i < count; i++) total += va_arg(list, long);
  for (int i = 0; i < count; i++) total ^= va_arg(copy, long) << i;
  va_end(copy);
  va_end(list);
  return total;
}

static double mixed(const char* format, ...) {
  va_list list;
  double total = 0;
  va_start(list, format);
  for (; *format; format++) {
    if (*format == 'i') total += va_arg(list, int);
    if (*format == 'd') total += va_arg(list, double) * 2;
    if (*format == 's') total += (double)strlen(va_arg(list, char*));
    if (*format == 'S') total += va_arg(list, struct Small).y;
  }
  va_end(list);
  return total;
}

static char* format_text(char* buffer, size_t size, const char* format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(buffer, size, format, list);
  va_end(list);
  return buffer;
}

__attribute__((noinline)) static int is_odd(unsigned n);
__attribute__((noinline)) static int is_even(unsigned n) {
  return n == 0 ? 1 : is_odd(n - 1);
}
__attribute__((noinline)) static int is_odd(unsigned n) {
  return n == 0 ? 0 : is_even(n - 1);
}

__attribute__((noinline)) static int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static int plus(int a, int b) {
  return a + b;
}
static int minus(int a, int b) {
  return a - b;
}
static int power(int a, int b) {
  return b <= 0 ? 1 : a * power(a, b - 1);
}
static Operation* const operations[] = {plus, minus, power, 0};
static Operation* volatile chosen;

__attribute__((noinline)) static int tail_through_pointer(int which, int a, int b) {
  chosen = operations[which];
  return chosen(a, b);
}

__attribute__((noinline)) static struct Big make_big(long seed) {
  struct Big b;
  for (int i = 0; i < 12; i++) b.a[i] = seed * (i + 1);
  b.d = (double)seed / 3;
  return b;
}

__attribute__((noinline)) static long take_big(struct Big b, struct Small s) {
  return b.a[3] + s.x * s.y + (long)b.d;
}

__attribute__((noinline)) static long huge_frame(int depth) {
  volatile long space[9000]; /* 72 KB: the frame size does not fit one lda */
  space[0] = depth;
  space[8999] = depth * 2;
  long below = depth ? huge_frame(depth - 1) : 0;
  return space[0] + space[8999] + below;
}

__attribute__((noinline)) static long with_alloca(int n) {
  long total = 0;
  for (int i = 1; i < n; i++) {
    unsigned char* space = alloca((size_t)(i * 7));
    memset(space, i, (size_t)(i * 7));
    total += space[i * 6] + space[0];
  }
  return total;
}

static int by_value(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}
static int by_text(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}
static void visit(const void* node, VISIT order, int depth) {
  if (order == leaf || order == postorder) printf("%d@%d ", **(int* const*)node, depth);
}

static volatile int returns;
__attribute__((noinline)) static int depth_of_stack(int n) {
  void* frames[64];
  if (n > 0) {
    int below = depth_of_stack(n - 1);
    returns++;
    return below;
  }
  int depth = backtrace(frames, 64);
  return depth;
}

__attribute__((noinline)) static void* my_caller(void) {
  return __builtin_return_address(0);
}

static int with_nested_function(int n) {
  int calls = 0;
  int compare_backwards(const void* a, const void* b) { /* needs a trampoline */
    calls++;
    return by_value(b, a);
  }
  int numbers[16];
  for (int i = 0; i < 16; i++) numbers[i] = i * n % 17;
  qsort(numbers, 16, sizeof *numbers, compare_backwards);
  for (int i = 1; i < 16; i++)
    if (numbers[i] > numbers[i - 1]) return -1;
  return calls > 15;
}

static void bye(void) {
  puts("bye");
}
__attribute__((noreturn, cold)) static void leave(int status) {
  printf("leaving with %d\n", status);
  exit(status);
}

int main(void) {
  atexit(bye);
  printf("weak %d %d %d %d\n", missing_function != 0, &missing_variable != 0, weak_default(1),
         renamed(21));
  printf("varargs %ld %g\n", sum_longs(9, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, -9L),
         mixed("idsSid", 1, 2.5, "four", (struct Small){1, 2}, 7, 0.25));
  char text[80];
  puts(format_text(text, sizeof text, "%s %d %c %5.2f %lx", "formatted", 5, 'x', 2.125, 0xabcdefL));
  printf("even %d odd %d ackermann %d\n", is_even(50000), is_odd(50001), ackermann(2, 60));
  for (int i = 0; i < 3; i++) printf("operation %d: %d\n", i, tail_through_pointer(i, 7, 3));
  printf("big %ld\n", take_big(make_big(17), (struct Small){3, 4}));
  printf("frames %ld alloca %ld\n", huge_frame(20), with_alloca(100));

  int numbers[500];
  unsigned seed = 1;
  for (int i = 0; i < 500; i++)
    numbers[i] = (int)((seed = seed * 1103515245u + 12345u) >> 16 & 0x3fff);
  qsort(numbers, 500, sizeof *numbers, by_value);
  int wanted = numbers[123];
  int* found = bsearch(&wanted, numbers, 500, sizeof *numbers, by_value);
  printf("sorted %d %d %d found %d\n", numbers[0], numbers[250], numbers[499], *found == wanted);
  char* names[] = {"spike", "alpha", "itanium", "merced", "om", "atom", "hot", "cold"};
  qsort(names, 8, sizeof *names, by_text);
  for (int i = 0; i < 8; i++) printf("%s ", names[i]);
  puts("");
  void* root = 0;
  for (int i = 0; i < 9; i++) tsearch(&numbers[i * 50], &root, by_value);
  twalk(root, visit);
  puts("");
  printf("stack grows by %d\n", depth_of_stack(9) - depth_of_stack(2));
  void* caller = my_caller();
  printf("return address inside text %d\n", caller != 0);
  printf("nested function %d\n", with_nested_function(5));
  leave(44);
}
