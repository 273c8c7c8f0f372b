// Two pieces of code further apart than a branch reaches: their blocks need far stubs once mixed.

long value;

// Room between them: stubs take some.
__asm__(".text\n\t.align 4\n\t.globl filler\n\t.type filler,@function\nfiller:\n\t.rept 800\n\taddq $16,1,$16\n\t.endr\n"
        "\tret $31,($26),1\n\t.size filler,.-filler\n"
        "\t.section .far,\"ax\"\n\t.align 4\n\t.globl filler2\n\t.type filler2,@function\nfiller2:\n\t.rept 800\n"
        "\taddq $16,1,$16\n\t.endr\n\tret $31,($26),1\n\t.size filler2,.-filler2\n\t.text");

__attribute__((section(".far"), noinline)) long far_away(long x) {
  while (x > 3) x = (x & 1) != 0 ? 3 * x + 1 : x / 2;
  return x + value;
}

__attribute__((noinline)) long near(long x) {
  for (long i = 0; i < x; ++i) value += i % 3 == 0 ? far_away(i) : i;
  return value;
}

void _start(void) {
  register long number __asm__("$0") = 1, argument __asm__("$16") = near(20) & 127;
  __asm__ volatile("callsys" : : "r"(number), "r"(argument));
  __builtin_unreachable();
}
