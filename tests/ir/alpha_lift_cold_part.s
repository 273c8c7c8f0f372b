# The compiler split f.cold off f: one procedure of two ranges, whose branches lead from one to the
# other by edges.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      beq     $16,.Lcold
.Lback: ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .type   f.cold,@function
f.cold:
.Lcold: bsr     $26,g
        br      $31,.Lback
        .size   f.cold,.-f.cold
