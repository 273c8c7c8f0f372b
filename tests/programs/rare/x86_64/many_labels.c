/* An interpreter of 320 labels, with two jumps to any of them in each: the address to which the second jump goes was
   loaded at the entry and stays in a register all the time, so that it is looked for behind all other jumps.
   rewritten: run */
#define FOUR(F, n) F(n##0) F(n##1) F(n##2) F(n##3)
#define SIXTEEN(F, n) FOUR(F, n##0) FOUR(F, n##1) FOUR(F, n##2) FOUR(F, n##3)
#define SOME(F, n) SIXTEEN(F, n##0) SIXTEEN(F, n##1) SIXTEEN(F, n##2) SIXTEEN(F, n##3)
#define ALL(F) SOME(F, 1) SOME(F, 2) SOME(F, 3) SOME(F, 4) SOME(F, 5)
#define ADDRESS(n) &&label_##n,
#define NEXT \
  if (steps-- <= 0) return a ^ b; \
  if (at >= n) at = 0; \
  goto* labels[code[at++]];
#define LABEL(n) \
  label_##n : a = a * (2 * n##u + 1) + b; \
  b ^= a >> (n##u % 31 + 1); \
  if (b % (n##u % 7 + 2) == 0) a += n##u; \
  NEXT

static unsigned short code[64];

__attribute__((noinline)) static unsigned run(unsigned n, int steps) {
  static void* const labels[] = {ALL(ADDRESS)};
  unsigned a = 1, b = 2, at = 0;
  NEXT
  ALL(LABEL)
}

int tested(int x) {
  for (unsigned i = 0; i < 64; i++) code[i] = (unsigned short)(i * 37 % 320);
  return (int)run(50, 1000 + x);
}
