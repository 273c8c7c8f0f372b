# Unwinders know this code by its bytes: it is pinned.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      bis     $31,$30,$16
        lda     $0,103($31)
        callsys
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      br      $31,f
        .size   g,.-g
