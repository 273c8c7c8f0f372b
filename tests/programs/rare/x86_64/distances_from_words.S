/* Rows of distances that count from each word, as from no address that the code forms. */
#include "local.inc"

        .macro  returns name, value
        .type   \name,@function
\name:  mov     $\value,%eax
        ret
        .size   \name,.-\name
        .endm
        returns one, 1
        returns two, 2
        returns three, 3
        returns four, 4

        .globl  tested
        .type   tested,@function
tested: push    %rbx
        push    %r12
        mov     %edi,%ebx
        and     $3,%ebx
        lea     words(%rip),%rdx
        lea     (%rdx,%rbx,4),%rdx
        movslq  (%rdx),%rax
        add     %rdx,%rax
        call    *%rax
        mov     %eax,%r12d
        call    before
        lea     (%r12,%rax,8),%r12d
        call    kept
        imul    $100,%eax
        add     %eax,%r12d
        call    inside
        imul    $10000,%eax
        add     %r12d,%eax
        pop     %r12
        pop     %rbx
        ret
        .size   tested,.-tested

        .macro  steps
        .rept   4
        .rept   16
        addl    $1,%ecx
        nop
        .endr
        .endr
        mov     %ecx,%eax
        ret
        .endm
        .macro  labels name, base
        .long   .L\name-\base, .L\name+64-\base, .L\name+128-\base, .L\name+192-\base
        .endm

        .type   before,@function
before: lea     offset_table-8(%rip),%rax
        xor     %ecx,%ecx
        movslq  8(%rax,%rbx,4),%rdx
        add     %rax,%rdx
        jmp     *%rdx
.Lbefore: steps
        .size   before,.-before

        .type   kept,@function
kept:   mov     keeper(%rip),%rax
        xor     %ecx,%ecx
        movslq  (%rax,%rbx,4),%rdx
        add     %rax,%rdx
        jmp     *%rdx
.Lkept: steps
        .size   kept,.-kept

        .type   inside,@function
inside: lea     tables(%rip),%rax
        test    $1,%bl
        jz      1f
        lea     tables+16(%rip),%rax
1:      xor     %ecx,%ecx
        movslq  (%rax,%rbx,4),%rdx
        add     %rax,%rdx
        jmp     *%rdx
.Linside: steps
        .size   inside,.-inside

        .section .rodata
words:  .long   one-., two-., three-., four-.
        .quad   0
offset_table:
        labels  before, (offset_table-8)
        .quad   0
kept_table:
        labels  kept, kept_table
        .quad   0
        .globl  tables
tables: labels  inside, tables
second: labels  inside, second
        .data
        .balign 8
keeper: .quad   kept_table
        .section .note.GNU-stack,"",@progbits
