/* Load-locked and store-conditional with parts out of line.
   build: -O2 */
#include <stdio.h>
long ool(long*,long), doubled(long*,long), midbr(long*,long);
asm(".text\n.align 4\n.globl ool\n.ent ool\nool: \n1: ldq_l $0,0($16)\n addq $0,$17,$1\n beq $0,3f\n2: stq_c $1,0($16)\n beq $1,9f\n mb\n ret\n3: addq $1,1,$1\n br 2b\n9: br 1b\n.end ool\n"
    ".globl doubled\n.ent doubled\ndoubled:\n1: ldl_l $0,0($16)\n bne $0,2f\n ldl_l $0,0($16)\n2: addl $0,$17,$1\n stl_c $1,0($16)\n beq $1,1b\n ret\n.end doubled\n"
    ".globl midbr\n.ent midbr\nmidbr:\n1: ldq_l $0,0($16)\n br 2f\n3: stq_c $1,0($16)\n beq $1,1b\n ret\n2: addq $0,$17,$1\n br 3b\n.end midbr\n");
int main(){ long x=0; for(int i=0;i<20;i++){ ool(&x,i-3); doubled(&x,2); midbr(&x,i);} printf("%ld\n",x); __sync_fetch_and_add(&x,5); char c=3; __sync_val_compare_and_swap(&c,3,9); printf("%ld %d\n",x,c); }
