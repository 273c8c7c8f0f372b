# Two tables without a gap: the second starts where code forms its address, though nothing else
# parts them. Each jump has the edges of both, since edges stand for what may be.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     t1(%rip),%rdx
        movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
0:      lea     t2(%rip),%rdx
        movslq  (%rdx,%rsi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
1:      call    f
2:      ret
        .size   f,.-f
        .section .rodata
t1:     .long   0b-t1
        .long   1b-t1
t2:     .long   1b-t2
        .long   2b-t2
