# A branch in slot 1: the block ends there, and the rest of the bundle is a block of its own, which
# nothing but fall-through gets to.
# run: lift
        .text
        .explicit
        .global f#
        .proc   f#
f:
{ .mbb
        cmp.eq  p6,p7=r32,r0
 (p6)   br.cond.dptk f#
        br.ret.sptk.many b0
}
        .endp   f#
