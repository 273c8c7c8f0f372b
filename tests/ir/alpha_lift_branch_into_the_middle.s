# g branches behind the first instruction of f: a block starts there, which is entered from outside
# and so keeps an address that others know.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lda     $0,1($31)
        .globl  middle
middle: addq    $0,1,$0
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      beq     $16,middle
        ret
        .size   g,.-g
