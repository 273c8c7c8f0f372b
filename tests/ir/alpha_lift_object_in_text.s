# A constant in a section of code has a symbol of its own, of an object: it is no code and stays. f,
# which reads it, is understood and may move.
# run: lift
        .text
        .globl  f
        .ent    f
f:      ldgp    $29,0($27)
        .prologue 1
        ldah    $1,constant($29)        !gprelhigh
        ldq     $0,constant($1)         !gprellow
        ret
        .end    f
        .align  3
        .type   constant,@object
constant: .quad 42
        .size   constant,8
