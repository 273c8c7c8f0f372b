/* Code that is not understood runs through no-ops into the next procedure.
   build: -O2 */
#include <stdio.h>
long f(long); long g(long);
__asm__(".text\n.align 4\n.globl f\n.ent f\nf:\n .prologue 0\n br $1,1f\n1: addq $16,1,$16\n.end f\n .align 5\n.globl g\n.ent g\ng:\n .prologue 0\n addq $16,$16,$0\n ret $31,($26),1\n.end g\n");
int main(){ printf("%ld %ld\n",f(3),g(3)); }
