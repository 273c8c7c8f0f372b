# Debuggers join ranges of one procedure that touch each other: a part of f that follows another one
# in an order of its own leaves a byte free.
# run: place
# fragment: f 0
# fragment: f 2
# fragment: f 1
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      1f
        mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
        .p2align 6
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
