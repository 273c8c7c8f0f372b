# Three states of one CIE: before the frame, with the frame, with ra saved in it. A change stands
# behind the instruction that causes it; blocks 1 and 2 start in the last state.
# run: lift
        .text
        .globl  f
        .ent    f
f:      .cfi_startproc
        lda     $30,-16($30)
        .cfi_def_cfa_offset 16
        stq     $26,0($30)
        .cfi_offset 26,-16
        beq     $16,1f
        bsr     $26,f
1:      ldq     $26,0($30)
        lda     $30,16($30)
        .cfi_restore 26
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .end    f
