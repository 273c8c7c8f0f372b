# f stays, since jrcxz has no long form. Its short jump to g cannot become long, so g stays, too; h
# may move.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:
1:      jrcxz   1b
        jmp     g
        .size   f,.-f
        .type   g,@function
g:      ret
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      call    h
        ret
        .size   h,.-h
