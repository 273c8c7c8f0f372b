/* Callees that drop their return address and return to the caller of their caller, whose own code
   never returns. */
#include "local.inc"

        .globl  tested
        .type   tested,@function
tested: push    %rbx
        mov     %edi,%ebx
        call    first
        add     %eax,%ebx
        call    second
        add     %eax,%ebx
        call    third
        lea     (%rbx,%rax),%edi
        call    local
        pop     %rbx
        ret
        .size   tested,.-tested

        .type   first,@function
first:  mov     $5,%eax
        call    pops
        ud2
        .size   first,.-first
        .type   second,@function
second: mov     $7,%eax
        call    adds
        ud2
        .size   second,.-second
        .type   third,@function
third:  push    %rbx
        mov     %rsp,%rbx
        mov     $9,%eax
        call    moves
        ud2
        .size   third,.-third

        .type   pops,@function
pops:   pop     %rcx
        ret
        .size   pops,.-pops
        .type   adds,@function
adds:   mov     8(%rsp),%rcx
        add     $16,%rsp
        jmp     *%rcx
        .size   adds,.-adds
        .type   moves,@function
moves:  mov     %rbx,%rsp
        pop     %rbx
        ret
        .size   moves,.-moves
        .section .note.GNU-stack,"",@progbits
