/* Addresses whose upper and lower halves lie apart. The sections of one object are merged, so the kept
   relocations of all these addresses have the same symbol and addend: only the flow of control shows which halves
   belong together.
   build: -O2
   build: -O2 STATIC
   rewritten: crossed
   rewritten: near
   rewritten: shared
   rewritten: across
   rewritten: copied
   rewritten: chosen
   rewritten: jumped
   rewritten: first
   rewritten: third
   expect: low: by which upper half is not known
   expect: high: by which upper half is not known
   expect: spilled: which upper half the half of an address */
#include <stdio.h>
typedef int (*function)(void);
function crossed(int), near(int), shared(int), across(int), copied(int), spilled(int), jumped(int);
int chosen(int, int);
#define FUNCTION(name, value)                                                                  \
  ".section .text." name ",\"ax\",@progbits\n.align 4\n.ent " name "\n" name ":\n"              \
  ".frame $30,0,$26,0\n.prologue 0\n lda $0," value "($31)\n ret\n.end " name "\n"
#define BEGIN(name)                                                                            \
  ".section .text." name ",\"ax\",@progbits\n.align 4\n.globl " name "\n.ent " name "\n" name  \
  ":\n.frame $30,16,$26,0\n ldgp $29,0($27)\n.prologue 1\n"
asm(".set noreorder\n.set noat\n"
    FUNCTION("first", "11") FUNCTION("second", "22") FUNCTION("low", "44")
    ".space 0x28000\n" FUNCTION("third", "33") FUNCTION("high", "55")
    ".space 0x9000\n"
    /* the nearest upper half in memory belongs to the other address; the upper halves differ */
    BEGIN("crossed") " beq $16,2f\n br $31,1f\n"
    "2: ldah $1,third($29) !gprelhigh\n br $31,4f\n"
    "3: lda $0,first($1) !gprellow\n ret\n"
    "1: ldah $1,first($29) !gprelhigh\n br $31,3b\n"
    "4: lda $0,third($1) !gprellow\n ret\n.end crossed\n"
    /* as `crossed`, but the upper halves are equal as long as nothing moves */
    BEGIN("near") " beq $16,2f\n br $31,1f\n"
    "2: ldah $1,second($29) !gprelhigh\n br $31,4f\n"
    "3: lda $0,first($1) !gprellow\n ret\n"
    "1: ldah $1,first($29) !gprelhigh\n br $31,3b\n"
    "4: lda $0,second($1) !gprellow\n ret\n.end near\n"
    /* two upper halves reach one lower half, and an upper half serves two lower halves */
    BEGIN("shared") " blt $16,5f\n beq $16,2f\n cmpeq $16,1,$2\n bne $2,1f\n"
    " ldah $1,first($29) !gprelhigh\n br $31,3f\n"
    "2: ldah $1,third($29) !gprelhigh\n br $31,4f\n"
    "3: lda $0,first($1) !gprellow\n ret\n"
    "1: ldah $1,first($29) !gprelhigh\n cmplt $31,$16,$2\n bne $2,3b\n"
    " lda $0,first($1) !gprellow\n ret\n"
    "4: lda $0,third($1) !gprellow\n ret\n"
    "5: lda $16,1($16)\n blt $16,5b\n br $31,2b\n.end shared\n"
    /* the upper half waits in a preserved register, and a call is in between */
    BEGIN("across") " lda $30,-16($30)\n stq $26,0($30)\n stq $9,8($30)\n beq $16,2f\n br $31,1f\n"
    "2: ldah $9,third($29) !gprelhigh\n bsr $26,second\n br $31,4f\n"
    "3: lda $0,first($9) !gprellow\n br $31,6f\n"
    "1: ldah $9,first($29) !gprelhigh\n bsr $26,second\n br $31,3b\n"
    "4: lda $0,third($9) !gprellow\n"
    "6: ldq $26,0($30)\n ldq $9,8($30)\n lda $30,16($30)\n ret\n.end across\n"
    BEGIN("copied") " beq $16,2f\n br $31,1f\n"
    "2: ldah $1,third($29) !gprelhigh\n mov $1,$2\n br $31,4f\n"
    "3: lda $0,first($2) !gprellow\n ret\n"
    "1: ldah $1,first($29) !gprelhigh\n mov $1,$2\n br $31,3b\n"
    "4: lda $0,third($2) !gprellow\n ret\n.end copied\n"
    /* the upper half waits in memory, where it is not followed: both functions have to stay */
    BEGIN("spilled") " lda $30,-16($30)\n beq $16,2f\n br $31,1f\n"
    "2: ldah $1,high($29) !gprelhigh\n stq $1,0($30)\n br $31,4f\n"
    "3: ldq $1,0($30)\n lda $0,low($1) !gprellow\n lda $30,16($30)\n ret\n"
    "1: ldah $1,low($29) !gprelhigh\n stq $1,0($30)\n br $31,3b\n"
    "4: ldq $1,0($30)\n lda $0,high($1) !gprellow\n lda $30,16($30)\n ret\n.end spilled\n"
    /* as `crossed`, with addresses of jump tables */
    BEGIN("chosen") " beq $16,2f\n br $31,1f\n"
    "2: ldah $1,bottom($29) !gprelhigh\n br $31,4f\n"
    "3: lda $1,top($1) !gprellow\n s4addq $17,$1,$1\n ldl $1,0($1)\n addq $1,$29,$1\n jmp ($1)\n"
    "1: ldah $1,top($29) !gprelhigh\n br $31,3b\n"
    "4: lda $1,bottom($1) !gprellow\n s4addq $17,$1,$1\n ldl $1,0($1)\n addq $1,$29,$1\n jmp ($1)\n"
    "5: lda $0,1($31)\n ret\n6: lda $0,2($31)\n ret\n7: lda $0,3($31)\n ret\n8: lda $0,4($31)\n ret\n"
    ".end chosen\n"
    ".section .rodata.top,\"a\",@progbits\n.align 2\ntop: .gprel32 5b\n .gprel32 6b\n.space 0x18000\n"
    ".section .rodata.bottom,\"a\",@progbits\n.align 2\nbottom: .gprel32 7b\n .gprel32 8b\n"
    /* the upper half is formed in front of an indirect jump */
    BEGIN("jumped") " ldah $2,first($29) !gprelhigh\n ldah $1,cases($29) !gprelhigh\n"
    " lda $1,cases($1) !gprellow\n s4addq $16,$1,$1\n ldl $1,0($1)\n addq $1,$29,$1\n jmp ($1)\n"
    "5: ldah $2,third($29) !gprelhigh\n lda $0,third($2) !gprellow\n ret\n"
    "6: lda $0,first($2) !gprellow\n ret\n.end jumped\n"
    ".section .rodata.cases,\"a\",@progbits\n.align 2\ncases: .gprel32 5b\n .gprel32 6b\n"
    ".text\n");
int main(void) {
  for (int i = -1; i < 3; i++)
    printf("%d %d %d %d %d %d\n", crossed(i)(), near(i)(), shared(i)(), across(i)(), copied(i)(),
           spilled(i)());
  for (int i = 0; i < 4; i++) printf("%d %d\n", chosen(i & 1, i >> 1), jumped(i & 1)());
}
