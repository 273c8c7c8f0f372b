# g forms the end of the object in front of the table by the object's name: no table of g's starts
# there, so the entries lead into f alone, and both procedures may move.
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
        .globl  object
object: .ascii  "%H:%M"
        .byte   0
table:  .long   0b-table
        .long   1b-table
