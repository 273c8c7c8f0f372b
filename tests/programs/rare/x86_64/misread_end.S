/* After skipped data the end reads like a return, but is part of a move: control runs on. */
        .text
        .globl  tested
        .type   tested,@function
tested: jmp     1f
        .byte   0x48,0xb8               /* would be an instruction of 10 bytes */
1:      lea     1(%rdi),%eax
        nop
        nop
        nop
        nop
        mov     $0xc3,%cl
        .size   tested,.-tested

        .type   next,@function
next:   add     $100,%eax
        movzbl  %cl,%ecx
        add     %ecx,%eax
        ret
        .size   next,.-next
        .section .note.GNU-stack,"",@progbits
