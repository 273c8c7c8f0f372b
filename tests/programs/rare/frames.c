/* Unwind rows in the middle of hand-written code.
   build: -O2 -fexceptions -funwind-tables */
#include <stdio.h>
#include <unwind.h>
int verbose=0; static int depth; static _Unwind_Reason_Code cb(struct _Unwind_Context*c,void*p){ depth++; extern int verbose; if(verbose) printf("%lx\n",_Unwind_GetIP(c)); return 0; }
__attribute__((noinline)) int walk(int x){ depth=0; _Unwind_Backtrace(cb,0); return depth*0+x; }
long tricky(long);
asm(".text\n.align 4\n.globl tricky\n.ent tricky\ntricky:\n.cfi_startproc\n ldgp $29,0($27)\n.prologue 1\n lda $30,-32($30)\n.cfi_adjust_cfa_offset 32\n stq $26,0($30)\n.cfi_offset 26,-32\n"
    " beq $16,1f\n.cfi_remember_state\n ldq $26,0($30)\n.cfi_restore 26\n lda $30,32($30)\n.cfi_def_cfa_offset 0\n mov 1,$0\n ret\n.cfi_restore_state\n"
    "1: stq $9,8($30)\n.cfi_rel_offset 9,8\n stq $15,16($30)\n.cfi_rel_offset 15,16\n mov $30,$15\n.cfi_def_cfa_register 15\n lda $30,-64($30)\n.cfi_escape 0x2e,0x0\n mov 7,$16\n lda $27,walk\n jsr $26,($27),walk\n ldgp $29,0($26)\n mov $15,$30\n.cfi_def_cfa 30,32\n ldq $15,16($30)\n ldq $9,8($30)\n ldq $26,0($30)\n lda $30,32($30)\n.cfi_def_cfa_offset 0\n ret\n.cfi_endproc\n.end tricky\n");
int main(int argc,char**argv){ verbose=argc>1; int d=tricky(0); printf("%d %d %ld\n",d,depth,tricky(4)); }
