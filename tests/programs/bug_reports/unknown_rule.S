# A frame description with an unknown operation: its code stays, with the same description, and the rest moves.
        .text
        .globl odd
        .type odd,@function
odd:    .cfi_startproc
        push    %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_escape 0x3c
        mov     %rdi,%rbx
        test    %rdi,%rdi
        jle     1f
        lea     3(%rdi),%rax
        pop     %rbx
        ret
1:      mov     %rbx,%rax
        pop     %rbx
        ret
        .cfi_endproc
        .size odd,.-odd
        .section .note.GNU-stack,"",@progbits
