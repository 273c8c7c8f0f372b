// A program without libraries, with the shapes that lifting needs: calls, a jump table, labels whose
// addresses are taken, procedure pointers in data, a locked sequence, a tail call.

typedef long (*Operation)(long);

static long twice(long x) { return x * 2; }
static long half(long x) { return x / 2; }
long counter;
Operation operations[] = {twice, half, twice};

__attribute__((noinline)) long choose(long x) {
  switch (x) {
    case 0: return counter;
    case 1: return 17 - counter;
    case 2: return counter * 3;
    case 3: return operations[1](counter);
    case 4: return -counter;
    case 5: return counter ^ 99;
    case 6: return counter << 3;
    default: return x;
  }
}

__attribute__((noinline)) long interpret(const unsigned char *code) {
  static const void *const labels[] = {&&add, &&subtract, &&end};
  long value = 0;
  goto *labels[*code++];
add:
  value += counter;
  goto *labels[*code++];
subtract:
  value -= 2;
  goto *labels[*code++];
end:
  return value;
}

__attribute__((noinline)) long increment(long *where) {
  return __atomic_add_fetch(where, 1, __ATOMIC_SEQ_CST);
}

__attribute__((noinline)) long dispatch(long x) { return operations[x & 1](increment(&counter) + x); }

__attribute__((noreturn, noinline)) void leave(long status) {
#if defined(__x86_64__)
  __asm__ volatile("syscall" : : "a"(60), "D"(status) : "rcx", "r11");
#else
  register long number __asm__("$0") = 1, argument __asm__("$16") = status;
  __asm__ volatile("callsys" : : "r"(number), "r"(argument));
#endif
  __builtin_unreachable();
}

void _start(void) {
  static const unsigned char code[] = {0, 1, 0, 2};
  long sum = interpret(code);
  for (long i = 0; i < 9; ++i) sum += choose(i) + dispatch(i);
  leave(sum & 127);
}
