/* Jump tables whose addresses come from the global offset table, or are short offsets from gp.
   build: -O0 -mno-explicit-relocs
   build: -O2 -mno-explicit-relocs
   build: -O2 -mno-explicit-relocs -fPIC -Wl,--no-relax
   build: -O2 -mno-explicit-relocs STATIC
   build: -O2 -mno-explicit-relocs -fPIE -pie
   rewritten: run
   rewritten: main */
#include <stdio.h>
__attribute__((noinline)) static long step(long x, long y) { return x * 3 + y; }
__attribute__((noipa)) static long run(const unsigned char *pc, long x) {
  long y = 1;
  for (;;) switch (*pc++) {
    case 0: return x ^ y;
    case 1: x += y; break;
    case 2: y = step(x, y); break;
    case 3: x -= 7; /* falls through */
    case 4: y ^= x; break;
    case 5: x = step(y, x) / (y | 1); break;
    case 6: y %= x | 1; break;
    case 7: switch (x & 7) {
        case 0: x++; break;
        case 1: y += 3; break;
        case 2: x = step(x, x); break;
        case 3: x /= 3; break;
        case 4: y = -y; break;
        case 5: x ^= 0x55; break;
        default: y++;
      }
      break;
    case 9: x *= 5; break;
    }
}
int main(void) {
  unsigned char code[300];
  unsigned long seed = 4, sum = 0;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 300; i++) seed = seed * 6364136223846793005ul + 1, code[i] = 1 + (seed >> 40) % 11;
    code[299] = 0;
    sum = sum * 31 + run(code, round);
  }
  printf("%lu\n", sum);
  return sum & 31;
}
