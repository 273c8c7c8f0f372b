/* clang's -fsanitize=cfi-icall: a call through a pointer is checked by its place in a table. */
#include <stdio.h>

typedef int (*operation)(int);

__attribute__((noinline)) int add_one(int x) {
  return x + 1;
}
__attribute__((noinline)) int twice(int x) {
  return x * 2;
}
__attribute__((noinline)) int thrice(int x) {
  if (x > 2) puts("thrice");
  return x * 3;
}

operation operations[] = {add_one, twice, thrice};

int tested(int x) {
  int sum = 0;
  for (int i = 0; i < 6; i++) sum += operations[(i + x) % 3](i);
  return sum;
}
