# gcc splits f.cold off f: one procedure of two ranges, whose branches lead from one to the other by
# edges.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      f.cold
0:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .section .text.unlikely,"ax"
        .type   f.cold,@function
f.cold: call    g
        jmp     0b
        .size   f.cold,.-f.cold
