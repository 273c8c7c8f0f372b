# A loop around a switch keeps the table's address in a register: the label to which only the jump
# leads has it from the jump itself. The jump is understood, and f may move.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
0:      movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        inc     %rdi
        jmp     *%rax
1:      inc     %rsi
        movslq  (%rdx,%rsi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
2:      call    g
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .section .rodata
table:  .long   0b-table
        .long   1b-table
        .long   2b-table
