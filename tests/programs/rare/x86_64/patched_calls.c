/* The program overwrites the calls that -mrecord-mcount lists. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define PLAIN __attribute__((no_instrument_function))

extern unsigned char *__start___mcount_loc[], *__stop___mcount_loc[];
int calls;
__asm__(
    ".globl __fentry__\n"
    ".type __fentry__,@function\n"
    "__fentry__: incl calls(%rip)\n"
    "ret\n"
    ".size __fentry__,.-__fentry__\n");

__attribute__((noinline)) static int work(int x) {
  return x > 2 ? x * 3 : x - 1;
}

PLAIN int tested(int x) {
  const int before = calls + work(x);
  for (unsigned char** each = __start___mcount_loc; each < __stop___mcount_loc; ++each) {
    void* page = (void*)((uintptr_t)*each & ~4095ul);
    mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(*each, "\x0f\x1f\x44\0\0", 5);
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
  }
  return before + work(x) + calls;
}
