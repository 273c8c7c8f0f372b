/* A procedure that runs into the next one, both understood.
   build: -O2 */
#include <stdio.h>
long f(long); long g(long);
__asm__(".text\n.align 4\n.globl f\n.ent f\nf:\n .prologue 0\n addq $16,1,$16\n.end f\n.globl g\n.ent g\ng:\n .prologue 0\n addq $16,$16,$0\n ret $31,($26),1\n.end g\n");
int main(){ printf("%ld %ld\n",f(3),g(3)); }
