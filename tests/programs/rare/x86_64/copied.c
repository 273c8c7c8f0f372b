/* Code is copied up to a label that belongs to no procedure. With BY_ARRAY an array holds the label. */
#include <string.h>
#include <sys/mman.h>

extern char template[], template_end[];
__asm__(
    ".text\n"
    ".globl template, template_end\n"
    ".type template,@function\n"
    "template: mov %edi,%eax\n"
    "test %eax,%eax\n"
    "js 1f\n"
    "imul $5,%eax\n"
    "ret\n"
    "1: neg %eax\n"
    "ret\n"
    ".size template,.-template\n"
    "template_end:\n"
    ".p2align 4\n");

#ifdef BY_ARRAY
char* volatile ends[] = {template_end};
#define END ends[0]
#else
#define END template_end
#endif

int tested(int x) {
  const int rights = PROT_READ | PROT_WRITE | PROT_EXEC;
  void* copy = mmap(0, 4096, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(copy, template, END - template);
  return ((int (*)(int))copy)(x) + ((int (*)(int))copy)(-x) + (int)(END - template);
}
