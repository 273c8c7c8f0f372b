/* Procedures that run into the next procedure, also after a call, and symbols of wrong or no size.
   build: -O2
   build: -O2 STATIC
   build: -O2 -fno-asynchronous-unwind-tables -Wl,-x */
#include <stdio.h>
long fall_a(long), fall_b(long), call_then_fall(long), size_zero(long), notype(long), cond_fall(long), wrong_small(long), wrong_large(long), in_large(long);
long helper(long x){ return x*3; }
asm(".text\n.align 4\n.globl fall_a\n.type fall_a,@function\nfall_a: addq $16,5,$16\n.size fall_a,.-fall_a\n"
    ".globl fall_b\n.type fall_b,@function\nfall_b: s4addq $16,$16,$0\n ret\n.size fall_b,.-fall_b\n"
    /* a call that returns, then falls into the next procedure */
    ".globl call_then_fall\n.type call_then_fall,@function\ncall_then_fall:\n lda $30,-16($30)\n stq $26,0($30)\n bsr $26, addten\n.size call_then_fall,.-call_then_fall\n"
    ".type ctf_tail,@function\nctf_tail: ldq $26,0($30)\n lda $30,16($30)\n ret\n.size ctf_tail,.-ctf_tail\n"
    ".type addten,@function\naddten: addq $16,10,$0\n ret\n.size addten,.-addten\n"
    ".globl size_zero\n.type size_zero,@function\nsize_zero: addq $16,1,$0\n beq $0,1f\n addq $0,2,$0\n1: ret\n"
    ".globl notype\nnotype: addq $16,3,$0\n blt $0,1f\n ret\n1: negq $0,$0\n ret\n"
    ".globl cond_fall\n.type cond_fall,@function\ncond_fall: addq $16,7,$0\n blbs $16, cf_odd\n.size cond_fall,.-cond_fall\n"
    ".type cf_even,@function\ncf_even: addq $0,100,$0\n ret\n.size cf_even,.-cf_even\n"
    ".type cf_odd,@function\ncf_odd: addq $0,200,$0\n ret\n.size cf_odd,.-cf_odd\n"
    ".globl wrong_small\n.type wrong_small,@function\nwrong_small: addq $16,1,$0\n blbc $0,2f\n addq $0,$0,$0\n2: addq $0,4,$0\n ret\n.size wrong_small,4\n"
    ".globl wrong_large\n.type wrong_large,@function\nwrong_large: addq $16,9,$0\n ret\n.size wrong_large,24\n"
    ".globl in_large\n.type in_large,@function\nin_large: addq $16,11,$0\n blbs $0,3f\n addq $0,1,$0\n3: ret\n.size in_large,.-in_large\n");
int main(){ long s=0; for(long i=0;i<10;i++){ s=s*7+fall_a(i)+fall_b(i)*2+call_then_fall(i)*3+size_zero(i)+notype(i-5)+cond_fall(i)+wrong_small(i)+wrong_large(i)+in_large(i)+helper(i);} printf("%ld\n",s); return s&63; }
