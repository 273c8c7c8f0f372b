# f reads the bytes of g: in any other place they could be other bytes, so g stays as it is.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      mov     g(%rip),%eax
        ret
        .size   f,.-f
        .type   g,@function
g:      ret
        .size   g,.-g
