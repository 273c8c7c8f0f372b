# An entry with the address behind its procedure, where only padding stands: the entry of f stands
# for it, so that no word leads to where other code may come to stand.
# run: lift
# run: rewrite scatter seed=2
# link: -e f --build-id
        .text
        .globl  f
        .type   f,@function
f:      jmp     *table(,%rdi,8)
0:      ret
        .size   f,.-f
1:      nop
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .section .rodata
        .balign 8
table:  .quad   0b
        .quad   1b
