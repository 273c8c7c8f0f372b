// Nested functions called by pointer: libgcc's __ia64_trampoline is entered with a pointer to the trampoline, on the stack, in place of
// the global pointer. Counters by way of it would be in the array.
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int call(int (*f)(int), int x) { return f(x); }

__attribute__((noinline)) static int sum_below(int n) {
  int sum = 0;
  int add(int x) { sum += x; return sum; }
  for (int i = 0; i < n; i++) call(add, i);
  return sum;
}

int main(void) {
  char big[200000];
  memset(big, 0, sizeof big);
  __asm__ volatile("" : : "r"(big) : "memory");
  int sum = sum_below(1000), wrong = 0;
  for (unsigned i = 0; i < sizeof big; i++) wrong += big[i] != 0;
  printf("%d %d\n", sum, wrong);
  return wrong != 0;
}
