# The address of the table went through memory, so nothing shows that the jump goes to an entry of
# the table. f may move all the same: there is no place in f to which another sum could lead.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
        mov     %rdx,-8(%rsp)
        movslq  (%rdx,%rdi,4),%rax
        add     -8(%rsp),%rax
        jmp     *%rax
0:      call    g
        ret
1:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .section .rodata
table:  .long   0b-table
        .long   1b-table
