/* The code of a section is made inaccessible once it has run, as kernels and some servers do with their start-up code:
   nothing else may be in that section, and its code may be nowhere else. */
#include <stdio.h>
#include <sys/mman.h>

#ifndef SECTION
#define SECTION ".once"
#endif

__asm__(".section " SECTION ",\"ax\",@progbits\n.p2align 12\n.globl once_start\nonce_start:\n.text\n");
extern char once_start[], once_end[];

__attribute__((section(SECTION), noinline)) int once(int n) {
  if (n > 1) return puts("many");
  return puts("one");
}
__asm__(".section " SECTION ",\"ax\",@progbits\n.p2align 12\n.globl once_end\nonce_end:\n.text\n");

static int inside(void* address) { return (char*)address >= once_start && (char*)address < once_end; }
__attribute__((noinline)) int f(int x) {
  if (x > 3) return x * 3;
  return x - 1;
}
__attribute__((noinline)) int g(int x) {
  if (x & 1) return f(x) + 1;
  return x * f(x + 2);
}

int main(int count, char** words) {
  void (*volatile again)(void) = (void (*)(void))once;
  once(count);
  printf("%d %d\n", inside((void*)again), inside((void*)f));
  if (mprotect(once_start, once_end - once_start, PROT_NONE) != 0) return 1;
  for (int i = 0; i < 6; i++) printf("%d\n", g(i) + f(i));
  return words == 0;
}
