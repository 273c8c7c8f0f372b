# endbr64 at an entry and at the targets of a switch is an instruction like others, no padding; the
# prefix notrack of the jump does not hide the jump.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      endbr64
        lea     table(%rip),%rdx
        movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        notrack jmp *%rax
0:      endbr64
        ret
1:      call    f
        ret
        .size   f,.-f
        .section .rodata
table:  .long   0b-table
        .long   1b-table
