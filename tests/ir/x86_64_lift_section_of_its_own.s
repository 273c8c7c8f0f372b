# Who gives code a section of its own has a reason that no relocation tells: Node.js maps its text
# on large pages by code in .lpstub. g stays; f, in a section that linkers make, may move.
# run: lift
        .section .text.hot,"ax"
        .globl  f
        .type   f,@function
f:      call    g
        ret
        .size   f,.-f
        .section .lpstub,"ax"
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
