# The lower half of the address of g is added to what the caller passes. The upper half, which has to
# change with it, is nowhere to be seen: no code could move, and the image is refused.
# run: lift
        .text
        .globl  f
        .ent    f
f:      ldgp    $29,0($27)
        .prologue 1
        lda     $1,g($16)               !gprellow
        ret
        .end    f
        .globl  g
        .ent    g
g:      .prologue 0
        ret
        .end    g
