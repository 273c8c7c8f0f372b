/* A callee takes its return address for the address of a string, and returns after the string. */
#include "local.inc"

        .globl  tested
        .type   tested,@function
tested: push    %rdi
        call    measure
        .asciz  "hello"                 /* reads like the start of an instruction */
        mov     (%rsp),%rdi
        call    measure
        .asciz  "done D"                /* reads like instructions */
        pop     %rdi
        call    local
        inc     %eax
        ret
        .size   tested,.-tested

        .type   measure,@function
measure:
        pop     %rsi
1:      lodsb
        test    %al,%al
        jnz     1b
        push    %rsi
        ret
        .size   measure,.-measure
        .section .note.GNU-stack,"",@progbits
