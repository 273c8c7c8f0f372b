/* Procedures with several entries, each of which loads gp, and names for one place.
   build: -O2
   build: -O2 STATIC
   build: -O2 -fPIC -Wl,--no-relax */
#include <stdio.h>
extern long counter; long counter=7; static long hidden=3;
long ent1(long), ent2(long), ent3(long), lategp(long), nogp(long), alias1(long), gponce(long);
asm(".text\n.align 4\n.globl ent1\n.type ent1,@function\nent1: ldgp $29,0($27)\n addq $16,1,$16\n br $31,.Lcommon\n"
    ".globl ent2\n.type ent2,@function\nent2: ldgp $29,0($27)\n addq $16,2,$16\n.Lcommon: ldq $1,counter($29)\t!literal\n ldq $1,0($1)\n addq $16,$1,$0\n ret\n.size ent2,.-ent2\n.size ent1,.-ent1\n"
    ".globl ent3\n.ent ent3\nent3: br $1,.+4\n ldgp $29,0($1)\n ldq $1,counter($29)\t!literal\n ldq $1,0($1)\n addq $16,$1,$0\n ret\n.end ent3\n"
    ".globl alias1\n.globl alias2\n.type alias1,@function\n.type alias2,@function\nalias1:\nalias2: addq $16,42,$0\n ret\n.size alias1,.-alias1\n.size alias2,.-alias2\n"
    ".weak alias3\nalias3=alias1\n");
long alias2(long); long alias3(long);
int main(){ long s=0; long (*f[])(long)={ent1,ent2,ent3,alias1,alias2,alias3}; for(long i=0;i<10;i++) for(int k=0;k<6;k++) s=s*3+f[k](i); printf("%ld %d\n",s,alias1==alias2); return s&63; }
