# g forms the address of f's table by the section, as assemblers do for local names: that may be the
# table, so both procedures stay.
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
g:      lea     object+6(%rip),%rax
        ret
        .size   g,.-g
        .section .rodata
object: .ascii  "%H:%M"
        .byte   0
table:  .long   0b-table
        .long   1b-table
