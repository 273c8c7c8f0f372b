/* Data that refers to the unwind table.
   build: -O2 */
#include <stdio.h>
__asm__(".section .eh_frame,\"aw\",@progbits\n.globl myframe\nmyframe:\n.previous\n");
extern int myframe[]; int *volatile p = myframe;
int main(){ printf("%d %d\n", p[0]!=0, myframe[0]!=0); }
