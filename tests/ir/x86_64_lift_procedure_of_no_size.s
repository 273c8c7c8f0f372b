# A procedure whose symbol has no size reaches to the next one, without the padding in between.
# run: lift
        .text
        .globl  f, g
        .type   f,@function
f:      call    g
        ret
        .p2align 4
        .type   g,@function
g:      ret
