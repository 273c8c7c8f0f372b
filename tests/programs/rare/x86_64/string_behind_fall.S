/* A callee runs into code that reads the string after the call. */
        .text
        .type F,@function
F:      xor %eax,%eax
        nop
        .size F,.-F
        .p2align 4
        .type G,@function
G:      pop %rsi
1:      movzbl (%rsi),%ecx
        inc %rsi
        add %ecx,%eax
        test %cl,%cl
        jnz 1b
        push %rsi
        ret
        .size G,.-G
        .p2align 4
        .globl tested
        .type tested,@function
tested: push %rbx
        mov %edi,%ebx
        test %ebx,%ebx
        js 2f
        call F
        .asciz "PX"
        add %ebx,%eax
        pop %rbx
        ret
2:      neg %ebx
        mov %ebx,%eax
        pop %rbx
        ret
        .size tested,.-tested
        .section .note.GNU-stack,"",@progbits
