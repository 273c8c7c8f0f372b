# The same in an image that can be loaded anywhere: a dynamic relocation has the address behind f,
# too, so the second entry stays as it is and is no pointer, and f, whose end it is, stays.
# run: lift
# link: -pie -e f
        .text
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
        jmp     *(%rdx,%rdi,8)
0:      ret
        .size   f,.-f
1:      nop
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .section .data.rel.ro,"aw"
        .balign 8
table:  .quad   0b
        .quad   1b
