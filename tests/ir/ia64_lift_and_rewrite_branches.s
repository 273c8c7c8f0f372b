# Bundles of three slots: the compare and the branch share one, blocks start at bundles, and the
# no-ops that only fill a bundle are part of their block.
# run: lift
# Each block stands alone: the branch of the first one needs a second one to its fall-through, and
# the empty slots are no-ops.
# run: rewrite scatter seed=1
# link: -e f --build-id
        .text
        .explicit
        .global f#
        .proc   f#
f:
{ .mib
        cmp.eq  p6,p7=r32,r0
        nop.i   0
 (p6)   br.cond.dptk .L1
}
{ .mib
        mov     r8=1
        nop.i   0
        br.ret.sptk.many b0
}
.L1:
{ .mib
        mov     r8=r0
        nop.i   0
        br.ret.sptk.many b0
}
        .endp   f#
        .global g#
        .proc   g#
g:
{ .mfb
        nop.m   0
        nop.f   0
        br.few  f#
}
        .endp   g#
