/* Symbols in a debug section, as link-time optimization leaves in .debug_info: the section is
   dropped, and the symbols with it.

   build: -O1
   build: -O1 STATIC
   build: -O2 -g -flto -fno-fat-lto-objects */
#include <stdio.h>

__asm__(
    ".pushsection .debug_info\n"
    "local_in_debug: .byte 0\n"
    ".weak weak_in_debug\n"
    ".hidden weak_in_debug\n"
    "weak_in_debug: .byte 0\n"
    ".globl global_in_debug\n"
    "global_in_debug: .byte 0\n"
    ".popsection");

static int \u00c0 = 1;

int main(int argc, char** argv) {
  if (argc > 5) \u00c0 = argc;
  printf("%d\n", \u00c0);
  return 0;
}
