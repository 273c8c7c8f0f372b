/* Zeros, no-ops and traps between procedures that are data: read, pointed to, and one byte of them. */
#include "local.inc"

        .globl  tested
        .type   tested,@function
tested: push    %rbx
        mov     %edi,%ebx
        call    masked
        call    through_pointer
        call    by_address
        mov     %ebx,%edi
        call    local
        pop     %rbx
        ret
        .size   tested,.-tested

/* Zeros that are read by distance. Adds their sum, and that of the others, to %ebx. */
        .type   masked,@function
masked: movdqu  mask(%rip),%xmm0
        movq    %xmm0,%rax
        add     %eax,%ebx
        ret
        .size   masked,.-masked
        .p2align 4
mask:   .zero   32

        .type   through_pointer,@function
through_pointer:
        mov     pointer(%rip),%rdx
        mov     $32,%ecx
1:      add     -1(%rdx,%rcx),%bl
        loop    1b
        ret
        .size   through_pointer,.-through_pointer
        .p2align 4
.Lzeros: .zero  32

        .type   by_address,@function
by_address:
        lea     .Lnops_end(%rip),%rdx
        mov     $-32,%rcx
1:      add     (%rdx,%rcx),%bl
        inc     %rcx
        jnz     1b
        ret
        .size   by_address,.-by_address
        .p2align 4
        .fill   16,1,0x90
        .fill   16,1,0xcc
.Lnops_end:
        .zero   16

        .data
pointer: .quad  .Lzeros
        .section .note.GNU-stack,"",@progbits
