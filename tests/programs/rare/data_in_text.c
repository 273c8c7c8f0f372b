/* Data among code: with and without a type, zeros, words that look like branches, a table.
   build: -O2
   build: -O2 STATIC
   expect: .Lz: nothing says that it is code
   expect: .Lb: nothing says that it is code
   expect: tbl: nothing says that it is code
   expect: text_table: it holds data */
#include <stdio.h>
long const_in_text(long), zero_in_text(long), branchy(long), text_table(long), objsym(long), lead_zero(long);
asm(".text\n.align 4\n"
    ".Lk: .quad 0x1234567, 0x7654321\n"
    ".globl const_in_text\n.ent const_in_text\nconst_in_text: ldgp $29,0($27)\n.prologue 1\n ldah $1,.Lk($29)\t!gprelhigh\n s8addq $16,0,$2\n lda $1,.Lk($1)\t!gprellow\n addq $1,$2,$1\n ldq $0,0($1)\n ret\n.end const_in_text\n"
    ".align 4\n.Lz: .quad 0,0,0,0\n"
    ".globl zero_in_text\n.ent zero_in_text\nzero_in_text: ldgp $29,0($27)\n.prologue 1\n ldah $1,.Lz($29)\t!gprelhigh\n s8addq $16,0,$2\n lda $1,.Lz($1)\t!gprellow\n addq $1,$2,$1\n ldq $0,0($1)\n ret\n.end zero_in_text\n"
    ".align 4\n.Lb: .long 0xe4200001, 0x40200401, 0xc3e00002, 0xf4200003, 0x47ff041f, 0xe4200001, 5, 6\n"
    ".globl branchy\n.ent branchy\nbranchy: ldgp $29,0($27)\n.prologue 1\n ldah $1,.Lb($29)\t!gprelhigh\n s4addq $16,0,$2\n lda $1,.Lb($1)\t!gprellow\n addq $1,$2,$1\n ldl $0,0($1)\n ret\n.end branchy\n"
    ".align 4\n.type tbl,@object\n.size tbl,32\ntbl: .long 0xe4200001, 0x40200401, 0xc3e00002, 0xf4200003, 0x47ff041f, 0xe4200001, 0xc3e00001, 0x47ff041f\n"
    ".globl objsym\n.ent objsym\nobjsym: ldgp $29,0($27)\n.prologue 1\n lda $1,tbl\n s4addq $16,$1,$1\n ldl $0,0($1)\n ret\n.end objsym\n"
    ".globl text_table\n.ent text_table\ntext_table: ldgp $29,0($27)\n.prologue 1\n and $16,3,$2\n ldah $1,.Lt($29)\t!gprelhigh\n s4addq $2,0,$2\n lda $1,.Lt($1)\t!gprellow\n addq $1,$2,$1\n ldl $1,0($1)\n addq $1,$29,$1\n jmp $31,($1),0\n"
    ".Lt: .gprel32 .L0\n .gprel32 .L1\n .gprel32 .L2\n .gprel32 .L3\n.L0: mov 10,$0\n ret\n.L1: mov 21,$0\n ret\n.L2: mov 32,$0\n ret\n.L3: mov 43,$0\n ret\n.end text_table\n");
int main(){ long s=0; for(long i=0;i<2;i++) s=s*3+const_in_text(i); for(long i=0;i<4;i++) s=s*3+zero_in_text(i)+1; for(long i=0;i<8;i++) s=s*3+branchy(i)+text_table(i)+objsym(i);  printf("%ld\n",s); for(long i=0;i<2;i++) printf("%ld ",const_in_text(i)); for(long i=0;i<4;i++) printf("%ld ", zero_in_text(i)); for(long i=0;i<8;i++) printf("%ld %ld %ld;",branchy(i),text_table(i),objsym(i)); return s&63; }
