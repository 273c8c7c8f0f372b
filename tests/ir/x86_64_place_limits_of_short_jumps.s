# Jumps reach from 128 bytes before to 127 bytes behind their end in two bytes, and otherwise take 5
# or 6: the assembler knows as well, so each procedure is as long as in the input. f and g jump
# forward over 127 and 128 bytes, h and i back over 126 and 127, j and k without a condition.
# run: place
        .text
        .reloc  f,R_X86_64_NONE
        .macro  forward name, jump, bytes
        .globl  \name
        .type   \name,@function
\name:  \jump   1f
        .fill   \bytes,1,0x58
1:      ret
        .size   \name,.-\name
        .endm
        .macro  back name, bytes
        .globl  \name
        .type   \name,@function
\name:
1:      .fill   \bytes,1,0x58
        je      1b
        ret
        .size   \name,.-\name
        .endm
        forward f,je,127
        forward g,je,128
        back    h,126
        back    i,127
        forward j,jmp,127
        forward k,jmp,128
