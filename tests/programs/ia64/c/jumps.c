// Jumps out of functions that the compiler makes itself: to a label of an outer function, and __builtin_longjmp.
#include <stdio.h>

static void *place[5];

__attribute__((noinline)) static void jump(int depth) {
  if (depth) jump(depth - 1);
  else __builtin_longjmp(place, 1);
}

__attribute__((noinline)) static int come_back(int depth) {
  volatile int kept = depth;
  if (__builtin_setjmp(place) == 0) {
    jump(depth);
    return 0;
  }
  return kept + 5;
}

__attribute__((noinline)) static int outer(int limit) {
  __label__ out;
  volatile int found = -1;
  void inner(int n) {
    if (n * n > limit) {
      found = n;
      goto out;
    }
    inner(n + 1);
  }
  inner(0);
out:
  return found;
}

int main(void) {
  for (int i = 0; i < 5; i++) printf("%d %d\n", come_back(3 * i), outer(10 * i));
  return 3;
}
