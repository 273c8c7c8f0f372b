/* GCC joins the gp loads of landing pads, though each pad takes its own address for the return
   address. Nothing is thrown: the result of a throw depends on the distance of the pads. build: -O2
   -mno-explicit-relocs build: -O2 -mno-explicit-relocs STATIC -Wl,--no-relax expect: run: it may
   compute gp from the address of another landing pad */
#include <cstdio>
#include <stdexcept>
__attribute__((noipa)) static long may_throw(long v) {
  if (v == 0x123456789abcdef) throw std::runtime_error("five");
  return v / 3;
}
extern "C" __attribute__((noipa)) long run(const unsigned char* pc, long x, long y) {
  static void* const labels[] = {&&stop, &&add, &&subtract, &&multiply, &&divide, &&mix};
#define NEXT                       \
  do {                             \
    try {                          \
      x += may_throw(y);           \
    } catch (std::exception & e) { \
      y += 3;                      \
    }                              \
    goto* labels[*pc++];           \
  } while (0)
  NEXT;
stop:
  return x ^ y;
add:
  x += y;
  NEXT;
subtract:
  y -= x;
  NEXT;
multiply:
  x *= 3;
  NEXT;
divide:
  y /= x | 1;
  NEXT;
mix:
  y ^= x >> 3;
  NEXT;
}
int main() {
  unsigned char code[200];
  unsigned long seed = 4, sum = 0;
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < 200; i++)
      seed = seed * 6364136223846793005ul + 1, code[i] = 1 + (seed >> 40) % 5;
    code[199] = 0;
    sum = sum * 31 + run(code, round, 7);
  }
  std::printf("%lu\n", sum);
  return sum & 31;
}
