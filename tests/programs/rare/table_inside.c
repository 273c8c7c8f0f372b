/* A table of numbers inside a sized procedure, found by its address.
   build: -O2 */
#include <stdio.h>
long get(long);
__asm__(".text\n.align 4\n.globl get\n.ent get\nget:\n ldgp $29,0($27)\n .prologue 1\n ldah $1,tbl($29) !gprelhigh\n lda $1,tbl($1) !gprellow\n s4addq $16,$1,$1\n ldl $0,0($1)\n ret $31,($26),1\ntbl: .long 0,5,0,7,0,9,0,0\n.end get\n");
int main(){ for(int i=0;i<8;i++) printf("%ld\n",get(i)); }
