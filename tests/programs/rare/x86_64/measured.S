/* A label after a procedure, at the start of the next procedure, gives the size of the first. */
#include "local.inc"

        .globl  measured
        .type   measured,@function
measured:
        lea     1(%rdi),%eax
        ret
        .size   measured,.-measured
measured_end:
        .globl  tested
        .type   tested,@function
tested: lea     measured(%rip),%rax
        lea     measured_end(%rip),%rcx
        sub     %rax,%rcx
        add     8+ends(%rip),%rcx
        sub     ends(%rip),%rcx
        lea     (%rdi,%rcx),%edi
        call    local
        ret
        .size   tested,.-tested
        .data
ends:   .quad   measured, measured_end
        .section .note.GNU-stack,"",@progbits
