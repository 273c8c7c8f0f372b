# The LSDA says that an exception of the call goes to `pad`: the call has an edge there, and the gp
# load of the pad is relative to the pad.
# run: lift
# Each block stands alone. The pad may not be where the landing pads of its part start, which would
# mean that there is none; the comparison with the input sees the same exceptions caught.
# run: rewrite scatter seed=1
# link: -e f --build-id
        .text
        .globl  f
        .ent    f
f:      .cfi_startproc
        .cfi_personality 0x1b,__gxx_personality_v0
        .cfi_lsda 0x1b,lsda
        ldgp    $29,0($27)
        .prologue 1
call:   bsr     $26,g                   !samegp
behind: ret
pad:    ldgp    $29,0($26)
        lda     $0,1($31)
        ret
        .cfi_endproc
        .end    f
        .globl  g, __gxx_personality_v0
        .ent    g
__gxx_personality_v0:
g:      ldgp    $29,0($27)
        .prologue 1
        ret
        .end    g
        .section .gcc_except_table,"a"
        .align  2
lsda:   .byte   0xff                    # LPStart: that of the procedure
        .byte   0xff                    # no types
        .byte   1                       # call sites: uleb128
        .uleb128 2f-1f
1:      .uleb128 call-f
        .uleb128 behind-call
        .uleb128 pad-f
        .uleb128 0
2:
