# The load at the entry is relative to the entry, that behind the call to the point of return. Each
# has two halves, which share one reference. gp is known for f.
# run: lift
# g comes in front of f or behind: the halves of each gp load change with the place that they are
# relative to; the relocations go along.
# run: rewrite random seed=2
# link: -e f --build-id
        .text
        .globl  f
        .ent    f
f:      ldgp    $29,0($27)
        .prologue 1
        ldq     $27,g($29)              !literal!1
        jsr     $26,($27),g             !lituse_jsr!1
        ldgp    $29,0($26)
        ret
        .end    f
        .globl  g
        .ent    g
g:      ldgp    $29,0($27)
        .prologue 1
        ret
        .end    g
