# A position-independent program: the words of .init_array have dynamic relocations, which repeat
# the addresses of the procedures. Both follow.
# run: lift
# run: rewrite
# link: -pie -e f --build-id
# fragment: g 0 1
# fragment: f 0
        .text
        .globl  f
        .type   f,@function
f:      ret
        .size   f,.-f
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .section .init_array,"aw"
        .quad   g
        .section .data.rel.ro,"aw"
        .quad   g
        .quad   f
