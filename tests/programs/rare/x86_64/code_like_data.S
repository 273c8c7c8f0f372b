/* Data in the text reads like "lea local(%rip),%rax"; the program reads the number inside. */
#include "local.inc"

        .p2align 4
words:  .byte   0x48,0x8d,0x05
        .long   local-.-4
        .byte   1,2,3,4,5

        .globl  tested
        .type   tested,@function
tested: mov     words+3(%rip),%eax
        add     %edi,%eax
        ret
        .size   tested,.-tested
        .section .note.GNU-stack,"",@progbits
