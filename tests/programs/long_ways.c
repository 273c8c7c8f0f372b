/* Loops whose heads are long ways of code that does nothing: PAD, an assembler text. Several conditional branches lead
   right to each head, so that some of these edges get a counter. */
#include <stdio.h>

int numbers[64];

__attribute__((noinline)) int find(const int* from, int count, int wanted) {
  int i = 0, result = 0;
again:
  __asm__ volatile(PAD);
  if (i >= count) return result;
  int x = from[i++];
  if (x == wanted) goto again;
  if (x < 0) goto again;
  result += x;
  if (x & 4) goto again;
  result ^= wanted;
  if (x == 77) return -result;
  goto again;
}

__attribute__((noinline)) int fold(const int* from, int count) {
  int result = 1;
  for (int i = 0; i < count; i++) {
    do {
      __asm__ volatile(PAD);
      if (from[i] == 3 && result != 5) break;
      result += from[i];
      if (result & 8) continue;
      result = result * 3 & 1023;
    } while (result < from[i]);
  }
  return result;
}

int main(int argc, char** argv) {
  (void)argv;
  for (int i = 0; i < 64; i++) numbers[i] = i * 7 % 13 - argc;
  printf("%d %d\n", find(numbers, 64, 5), fold(numbers, 64));
  return 0;
}
