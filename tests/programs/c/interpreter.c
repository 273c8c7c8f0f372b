/* A bytecode interpreter with computed gotos: an array of label addresses (REFQUAD relocations to
   the middle of a procedure), a label kept in a variable, and loops that jump through them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  PUSH,
  ADD,
  SUB,
  MUL,
  DUP,
  SWAP,
  DROP,
  JNZ,
  JMP,
  LOAD,
  STORE,
  LESS,
  PRINT,
  CALL,
  RET,
  HALT,
  OVER,
  MOD
};

struct Machine {
  long stack[256];
  long slots[16];
  const short* returns[64];
  long steps;
};

static long run(struct Machine* m, const short* code) {
  static const void* const labels[] = {&&push,  &&add,  &&sub, &&mul,  &&dup,   &&swap,
                                       &&drop,  &&jnz,  &&jmp, &&load, &&store, &&less,
                                       &&print, &&call, &&ret, &&halt, &&over,  &&mod};
  long* sp = m->stack;
  const short** rp = m->returns;
  const short* pc = code;
#define NEXT             \
  do {                   \
    m->steps++;          \
    goto* labels[*pc++]; \
  } while (0)
  NEXT;
push:
  *++sp = *pc++;
  NEXT;
add:
  sp--;
  sp[0] += sp[1];
  NEXT;
sub:
  sp--;
  sp[0] -= sp[1];
  NEXT;
mul:
  sp--;
  sp[0] *= sp[1];
  NEXT;
dup:
  sp++;
  sp[0] = sp[-1];
  NEXT;
swap : {
  long t = sp[0];
  sp[0] = sp[-1];
  sp[-1] = t;
}
  NEXT;
drop:
  sp--;
  NEXT;
jnz:
  if (*sp--)
    pc += *pc;
  else
    pc++;
  NEXT;
jmp:
  pc += *pc;
  NEXT;
load:
  *++sp = m->slots[*pc++];
  NEXT;
store:
  m->slots[*pc++] = *sp--;
  NEXT;
less:
  sp--;
  sp[0] = sp[0] < sp[1];
  NEXT;
print:
  printf("%ld\n", *sp--);
  NEXT;
call:
  *rp++ = pc + 1;
  pc = code + *pc;
  NEXT;
ret:
  pc = *--rp;
  NEXT;
over:
  sp++;
  sp[0] = sp[-2];
  NEXT;
mod:
  sp--;
  sp[0] = sp[1] ? sp[0] % sp[1] : 0;
  NEXT;
halt:
  return sp == m->stack ? 0 : *sp;
}

/* A label that is chosen once and reached by many jumps; a local variable keeps its address. */
static unsigned toggle(unsigned n) {
  void* state = &&even;
  unsigned r = 0;
again:
  if (n-- == 0) return r;
  goto* state;
even:
  r = r * 5 + 1;
  state = &&odd;
  goto again;
odd:
  r ^= r >> 3;
  state = r % 3 ? &&even : &&third;
  goto again;
third:
  r += 0x9e3779b9u;
  state = &&even;
  goto again;
}

int main(void) {
  /* sum of i*i for i < 30000, then the Collatz length of 27, then a recursive-looking call chain */
  static const short squares[] = {PUSH, 0,    STORE, 0,    PUSH, 0,     STORE, 1,    LOAD,
                                  0,    DUP,  MUL,   LOAD, 1,    ADD,   STORE, 1,    LOAD,
                                  0,    PUSH, 1,     ADD,  DUP,  STORE, 0,     PUSH, 30000,
                                  LESS, JNZ,  -21,   LOAD, 1,    PRINT, LOAD,  0,    HALT};
  static const short calls[] = {PUSH, 7,    CALL, 8,   PRINT, PUSH, 3,   HALT, DUP,
                                MUL,  CALL, 13,   RET, PUSH,  5,    ADD, RET};
  static const short jumps[] = {PUSH, 10,   JMP,  3,   PUSH,  99,   DUP,  PRINT, PUSH,
                                1,    SUB,  DUP,  JNZ, -7,    DROP, PUSH, 4,     PUSH,
                                9,    OVER, SWAP, MOD, PRINT, DROP, HALT};
  struct Machine m;
  memset(&m, 0, sizeof m);
  printf("result %ld\n", run(&m, squares));
  printf("result %ld\n", run(&m, calls));
  printf("result %ld\n", run(&m, jumps));
  printf("steps %ld\n", m.steps);
  printf("toggle %u\n", toggle(100000));
  return 0;
}
