/* The code refers to so much data in the text that a table after it would not be examined. */
#include "local.inc"

        .type   sums,@function
sums:   xor     %eax,%eax
        .set    i, 0
        .rept   130
        lea     data+4*i(%rip),%rdx
        add     (%rdx),%eax
        .set    i, i+1
        .endr
        ret
        .size   sums,.-sums
        .p2align 4
data:   .fill   200000, 4, 0x40000000

        .globl  tested
        .type   tested,@function
tested: and     $1,%edi
        lea     first(%rip),%rax
        lea     table(%rip),%rdx
        movslq  (%rdx,%rdi,4),%rdx
        add     %rax,%rdx
        jmp     *%rdx
        .size   tested,.-tested
        .p2align 2
table:  .long   0, second-first

        .type   first,@function
first:  mov     $1,%eax
        ret
        .size   first,.-first
        .type   second,@function
second: jmp     sums
        .size   second,.-second
        .section .note.GNU-stack,"",@progbits
