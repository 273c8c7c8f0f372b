# f calls its next instruction to take its own address from the stack, and may compute with it: f
# stays as it is.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      call    1f
1:      pop     %rax
        ret
        .size   f,.-f
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
