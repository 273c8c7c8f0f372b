# Control runs from the end of f into g. The IR says so by a branch: behind the last instruction
# of f, and, as h ends with a conditional branch already, by a block of its own in h.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lda     $0,1($31)
        .size   f,.-f
        .globl  h
        .type   h,@function
h:      beq     $16,h
        .size   h,.-h
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
