/* Tables of distances of code from the table, in the text, without relocations. */
#include "local.inc"

        .globl  tested
        .type   tested,@function
tested: lea     outside(%rip),%rdx
        mov     %edi,%eax
        and     $1,%eax
        movslq  (%rdx,%rax,4),%rax
        add     %rdx,%rax
        jmp     *%rax
        .size   tested,.-tested
        .p2align 2
outside:
        .long   local-outside, inside-outside

        .type   inside,@function
inside: lea     parts(%rip),%rdx
        mov     %edi,%eax
        shr     %eax
        and     $1,%eax
        movslq  (%rdx,%rax,4),%rax
        add     %rdx,%rax
        jmp     *%rax
1:      mov     $1,%eax
        ret
2:      mov     $2,%eax
        ret
        .size   inside,.-inside
        .p2align 2
parts:  .long   1b-parts, 2b-parts
        .section .note.GNU-stack,"",@progbits
