/* Labels of a table whose code leaves by tail calls: the procedure returns, though its own jump leads to labels.
   build: -O2 */
#include <stdio.h>
typedef long (*fn)(long);
long one(long x){ __asm__ volatile(""); return x+1;}
long two(long x){ __asm__ volatile(""); return x*2;}
long disp(long op, fn g);
__asm__(".text\n.align 4\n.globl disp\n.ent disp\ndisp:\n ldgp $29,0($27)\n .prologue 1\n mov $17,$27\n ldah $1,ltab($29) !gprelhigh\n lda $1,ltab($1) !gprellow\n s8addq $16,$1,$1\n ldq $1,0($1)\n jmp $31,($1),0\n"
"la: lda $16,10($31)\n jmp $31,($27),0\nlb: lda $16,20($31)\n jmp $31,($27),0\n .end disp\n .data\n.align 3\nltab: .quad la, lb\n.text\n");
__attribute__((noinline)) long caller(long i){ long v=disp(i&1, i&2?one:two); return v*3+i; }
int main(int argc,char**argv){
  for(int i=0;i<6;i++) printf("%ld\n",caller(i));
  return 0;
}
