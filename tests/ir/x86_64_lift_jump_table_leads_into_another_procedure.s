# An entry leads into the middle of g, which does not form the table's address: nothing says what
# comes there, so f and g stay.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
        movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
0:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      nop
1:      call    f
        ret
        .size   g,.-g
        .section .rodata
table:  .long   0b-table
        .long   1b-table
