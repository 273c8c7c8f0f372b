/* Label differences, added to a base label. The assembler computes them, so the table has no
   relocations, and nothing says that it is a table: a rewriter has to notice such a procedure, and
   leave it alone. */
#include <stdio.h>

__attribute__((noinline)) static int classify(const char* text) {
  static const int offsets[] = {&&space - &&base, &&digit - &&base, &&letter - &&base,
                                &&other - &&base, &&end - &&base};
  int spaces = 0, digits = 0, letters = 0, others = 0;
base:
  for (;;) {
    char c = *text++;
    int kind = c == 0                               ? 4
               : c == ' '                           ? 0
               : c >= '0' && c <= '9'               ? 1
               : (c | 32) >= 'a' && (c | 32) <= 'z' ? 2
                                                    : 3;
    goto*(&&base + offsets[kind]);
  space:
    spaces++;
    continue;
  digit:
    digits++;
    continue;
  letter:
    letters++;
    continue;
  other:
    others++;
  }
end:
  return ((spaces * 100 + digits) * 100 + letters) * 100 + others;
}

int main(void) {
  printf("kinds %d\n", classify("Spike 1997: a post-link optimizer, version 2!"));
  printf("kinds %d\n", classify("Itanium 2 & Alpha 21164"));
  return 0;
}
