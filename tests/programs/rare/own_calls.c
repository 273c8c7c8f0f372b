/* Calls with other return registers: places inside a procedure, and data after the call.
   build: -O2
   build: -O1 STATIC
   expect: link_br: it may read data
   expect: skip_word: it may read data */
#include <stdio.h>
long milli(long), link_br(long), double_call(long), skip_word(long), own_entry(long);
asm(".text\n.align 4\n.globl milli\n.ent milli\nmilli:\n.frame $30,0,$26,0\n.prologue 0\n"
    "  bsr $28, .Ltriple\n  addq $0, 1, $0\n  bsr $28, .Ltriple2\n ret $31,($26),1\n"
    ".Ltriple: s4subq $16, $16, $0\n  ret $31,($28),1\n"
    ".Ltriple2: s4subq $0, $0, $0\n  ret $31,($28),1\n.end milli\n"
    /* through jmp */
    ".globl double_call\n.ent double_call\ndouble_call:\n.frame $30,0,$26,0\n.prologue 0\n"
    "  bsr $27, .Lone\n  bsr $27, .Lone\n  mov $16,$0\n  ret\n.Lone: addq $16,$16,$16\n  jmp $31,($27)\n.end double_call\n"
    /* br with a link over a data word */
    ".globl link_br\n.ent link_br\nlink_br:\n.frame $30,0,$26,0\n.prologue 0\n"
    "  br $1, 1f\n .long 0x47ff041f\n .long 0x203f0007\n1: ldl $2, 4($1)\n  addq $2,$16,$0\n  ret\n.end link_br\n"
    /* bsr with inline argument word that the callee skips */
    ".globl skip_word\n.ent skip_word\nskip_word:\n.frame $30,0,$26,0\n.prologue 0\n"
    "  bsr $1, inline_arg\n .long 0x201f0005\n  addq $0,$16,$0\n  ret\n.end skip_word\n"
    ".ent inline_arg\ninline_arg: ldl $0, 0($1)\n  addq $1,4,$1\n  ret $31,($1),1\n.end inline_arg\n"
    ".globl own_entry\n.ent own_entry\nown_entry:\n.frame $30,16,$26,0\n.prologue 0\n"
    "  beq $16, 2f\n  lda $30,-16($30)\n  stq $26,0($30)\n  stq $16,8($30)\n  subq $16,1,$16\n bsr $26, own_entry\n  ldq $16,8($30)\n  addq $0,$16,$0\n  ldq $26,0($30)\n  lda $30,16($30)\n  ret\n2: mov 0,$0\n ret\n.end own_entry\n");
int main(){ long s=0; for(long i=0;i<10;i++){ s=s*7+milli(i)+double_call(i); s+=link_br(i)*3+own_entry(i);} printf("%ld %ld\n",s, skip_word(4)); return s&63; }
