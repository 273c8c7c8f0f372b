# g starts inside of f: one procedure with two entries. Both keep their symbols, and the call of g
# leads to its block.
# run: lift
# run: rewrite scatter seed=4
# link: -e f --build-id
        .text
        .globl  f, g
        .type   f,@function
        .type   g,@function
f:      mov     $1,%eax
g:      ret
        .size   g,.-g
        .size   f,.-f
        .globl  h
        .type   h,@function
h:      call    g
        call    f
        ret
        .size   h,.-h
