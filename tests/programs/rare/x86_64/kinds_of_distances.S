/* Words that hold distances of procedures, with relocations of several types. */
#include "local.inc"

        .macro  returns name, value
        .globl  \name
        .type   \name,@function
\name:  mov     $\value,%eax
        ret
        .size   \name,.-\name
        .endm
        returns one, 1
        returns two, 2
        returns three, 3
        returns four, 4
        returns five, 5

        .globl  tested
        .type   tested,@function
tested: push    %rbx
        push    %r12
        mov     %edi,%ebx
        and     $1,%ebx

        lea     by_stub(%rip),%rdx      # as virtual tables with relative entries
        movslq  (%rdx,%rbx,4),%rax
        add     %rdx,%rax
        call    *%rax
        mov     %eax,%r12d

        lea     short(%rip),%rdx
        lea     (%rdx,%rbx,2),%rdx
        movswq  (%rdx),%rax
        add     %rdx,%rax
        call    *%rax
        lea     (%rax,%r12,8),%r12d

        lea     _GLOBAL_OFFSET_TABLE_(%rip),%rax
        add     from_slots(%rip),%rax
        call    *%rax
        lea     (%rax,%r12,8),%r12d

        lea     slot(%rip),%rax
        movslq  (%rax),%rcx
        call    *(%rax,%rcx)
        lea     (%rax,%r12,8),%r12d

        lea     wide(%rip),%rax
        add     (%rax,%rbx,8),%rax
        call    *%rax
        lea     (%rax,%r12,8),%eax
        pop     %r12
        pop     %rbx
        ret
        .size   tested,.-tested

        .section .rodata
        .long   0
by_stub: .long  one@PLT, two@PLT+4
short:  .word   two-., three-.
        .balign 8
wide:   .quad   three-wide, four-wide
from_slots: .quad four@GOTOFF
slot:   .long   five@GOTPCREL
        .section .note.GNU-stack,"",@progbits
