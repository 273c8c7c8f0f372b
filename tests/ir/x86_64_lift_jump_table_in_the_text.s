# Hand-written code keeps the table in the text, where assemblers leave distances without
# relocations: the table is data that stays, and so is f, into which its words lead.
# run: lift
        .text
        .globl  g
        .type   g,@function
g:      call    g
        ret
        .size   g,.-g
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
        movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
0:      nop
        ret
1:      ret
        .size   f,.-f
table:  .long   0b-table
        .long   1b-table
