# gcc lets entries that are never used lead behind their procedure. Nothing says which are used, so
# the second entry goes on leading to g, which stands there: both may move.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
        movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
0:      ret
1:
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .section .rodata
table:  .long   0b-table
        .long   1b-table
