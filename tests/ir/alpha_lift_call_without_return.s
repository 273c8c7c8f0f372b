# Behind the call of g in f the compiler wrote nothing, as it knew that g does not return: control
# does not run off the end of f, and f stays movable. In h, which has no unwind information, the call
# leads on to what comes behind it.
# run: lift
        .text
        .globl  f
        .ent    f
f:      .cfi_startproc
        bsr     $26,g
        .cfi_endproc
        .end    f
        .globl  g
        .ent    g
g:      .cfi_startproc
        call_pal 0x81
        br      $31,g
        .cfi_endproc
        .end    g
        .globl  h
        .type   h,@function
h:      bsr     $26,g
        .size   h,.-h
        .globl  k
        .type   k,@function
k:      ret
        .size   k,.-k
