# Constants behind g that nothing names: they may be code that branches or runs into h, so they stay
# where they are, and h stays. f, which nothing in them leads to, may move.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      call    g
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      movsd   1f(%rip),%xmm0
        ret
        .size   g,.-g
        .balign 8
1:      .double 0.1
        .globl  h
        .type   h,@function
h:      ret
        .size   h,.-h
