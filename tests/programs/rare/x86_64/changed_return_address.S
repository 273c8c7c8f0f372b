/* Callees that change their return address on the stack, by way of a jump, or after a branch. */
        .text
        .globl  tested
        .type   tested,@function
tested: push    %rdi
        call    stores
        .asciz  "huts"
        call    exchanges
        .asciz  "huts"
        call    jumps
        .asciz  "huts"
        call    adds
        .asciz  "huts"
        call    pops_late
        .asciz  "huts"
        pop     %rdi
        call    local
        ret
        .size   tested,.-tested

#include "local.inc"

        .type   stores,@function
stores: push    %rbx
        mov     8(%rsp),%rsi
        add     $5,%rsi
        mov     %rsi,8(%rsp)
        pop     %rbx
        ret
        .size   stores,.-stores

        .type   exchanges,@function
exchanges:
        xchg    (%rsp),%rsi
        add     $5,%rsi
        xchg    (%rsp),%rsi
        ret
        .size   exchanges,.-exchanges

        .type   jumps,@function
jumps:  jmp     adds
        .size   jumps,.-jumps

        .type   adds,@function
adds:   addq    $5,(%rsp)
        ret
        .size   adds,.-adds

        .type   pops_late,@function
pops_late:
        test    %edi,%edi
        js      1f
        pop     %rsi
        add     $5,%rsi
        push    %rsi
1:      ret
        .size   pops_late,.-pops_late
        .section .note.GNU-stack,"",@progbits
