# Where the address in $16 comes from is not known: f is opaque, stays, and so has no edges behind the
# jump. g, which f does not name, may move.
# run: lift
        .text
        .globl  f
        .ent    f
f:      .prologue 0
        addq    $16,4,$16
        jmp     ($16)
        .end    f
        .globl  g
        .ent    g
g:      .prologue 0
        br      $31,f
        .end    g
