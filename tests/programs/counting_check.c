/* Shapes that an instrumented image may get wrong: a switch with a table, a loop, calls by name and through
   pointers, a branch behind a comparison. */
#include <stdio.h>

static int (*volatile pointer)(int);
int state[8];

__attribute__((noinline)) int choose(int kind, int x) {
  switch (kind) {
    case 0: return x + 3;
    case 1: return x * x;
    case 2: state[x & 7] ^= x; return 5;
    case 3: return x >> 2;
    case 4: return printf("%d\n", x);
    case 5: return -x;
    case 6: return x ^ 77;
    default: return state[kind & 7];
  }
}

__attribute__((noinline)) int twice(int x) { return x > 5 ? 2 * x : x - state[0]; }

__attribute__((noinline)) int sum(const int* from, int count, int step) {
  int result = 0;
  for (int i = 0; i < count; i += step) {
    if (from[i] < step) result += twice(from[i]);
    result += from[i] * step;
  }
  return result;
}

int main(int argc, char** argv) {
  int result = argc;
  pointer = twice;
  for (int i = 0; i < 20; i++) {
    state[i & 7] += choose(i % 9, i);
    result += pointer(i);
  }
  printf("%d %s\n", result + sum(state, 8, argc), argv[0] != 0 ? "named" : "");
  return 0;
}
