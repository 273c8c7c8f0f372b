# g forms the address of f's table by the table's own name, and may jump into f by it: both stay.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
        movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
0:      ret
1:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      lea     table(%rip),%rax
        ret
        .size   g,.-g
        .section .rodata
        .globl  table
        .type   table,@object
table:  .long   0b-table
        .long   1b-table
        .size   table,.-table
