# `inner` is a procedure inside of f, called from g: one procedure with two entries, one of which is
# not its first block.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lda     $0,1($31)
        .globl  inner
        .type   inner,@function
inner:  addq    $0,1,$0
        ret
        .size   inner,.-inner
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      bsr     $26,inner
        ret
        .size   g,.-g
