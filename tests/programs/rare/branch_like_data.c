/* A number that reads like a branch, in code that is not understood.
   build: -O2 */
#include <stdio.h>
long f(long);
__asm__(".text\n.align 4\n.globl f\n.ent f\nf:\n .prologue 0\n br $1,1f\n .long 0xd3400010\n1: ldl $0,0($1)\n ret $31,($26),1\n.end f\n");
__attribute__((noinline)) int pad(int x){ return x*3+1; }
__attribute__((noinline)) int pad2(int x){ for(int i=0;i<x;i++) __asm__ volatile(""); return x*3+1; }
int main(){ printf("%lx %d %d\n",f(3), pad(2),pad2(3)); }
