# Hand-written code without a type or size is code when something calls it: `helper` is a procedure,
# and the no-ops before it belong to nobody.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      bsr     $26,helper
        br      $31,f
        .size   f,.-f
        unop
        .align  4
helper: lda     $0,1($31)
        ret
