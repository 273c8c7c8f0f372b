/* An interpreter whose next address waits in a register during a division, as GCC schedules it: routines that
   divide keep nearly all registers.
   build: -O2
   build: -O3 -fPIC
   build: -Os -mcpu=ev67
   build: -O2 -mno-explicit-relocs
   build: -O2 -Wl,--no-relax
   build: -O2 STATIC
   build: -O2 -fPIE -pie
   rewritten: run
   rewritten: stepped */
#include <stdio.h>
static long mem[16];
/* With a table in memory that the compiler cannot see. */
__attribute__((noipa)) static long run(const unsigned char *pc, long x, long y, long limit) {
  static void *const labels[] = {&&add, &&divide, &&remain, &&unsign, &&narrow, &&store, &&load, &&stop};
  static void *const *volatile hidden = labels;
  void *const *table = hidden;
#define NEXT do { if (--limit < 0) return x ^ y; goto *table[*pc++ & 7]; } while (0)
  NEXT;
add: x += y; NEXT;
divide: x /= y | 1; NEXT;
remain: y %= x | 1; NEXT;
unsign: x = (unsigned long)x % ((unsigned long)y | 1); NEXT;
narrow: y = (int)y / ((int)x | 1) + (int)((unsigned)x % ((unsigned)y | 1)); NEXT;
store: mem[x & 15] = y * 5 + x; NEXT;
load: y = mem[y & 15] / (x | 1); NEXT;
stop: return x + y;
}
/* The next address is also compared with a label's. */
__attribute__((noipa)) static long stepped(const unsigned char *pc, long x, long y) {
  static void *const labels[] = {&&add, &&divide, &&remain, &&stop};
  void *next = labels[*pc++ & 3];
#define STEP do { void *now = next; if (now == &&stop) y++; next = labels[*pc++ & 3]; goto *now; } while (0)
  STEP;
add: x += y; STEP;
divide: x /= y | 1; STEP;
remain: y %= x | 1; STEP;
stop: return x * 3 + y;
}
int main(void) {
  unsigned char code[400];
  unsigned long seed = 9, sum = 0;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 400; i++) seed = seed * 6364136223846793005ul + 1, code[i] = (seed >> 40) % 7;
    code[399] = 3;
    sum = sum * 31 + run(code, round * 1000003, 77777 - round, 380);
    for (int i = 0; i < 399; i++) code[i] %= 3;
    sum = sum * 31 + stepped(code, round * 1000003, 5 - round);
  }
  printf("%lu\n", sum);
  return sum & 31;
}
