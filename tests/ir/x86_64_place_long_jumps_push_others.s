# The second jump of f is too far for the short form, and its four bytes more push the target of the
# first one, 127 bytes away, out of reach: both are long. In g the second jump is near, and both are
# short.
# run: place
        .text
        .reloc  f,R_X86_64_NONE
        .macro  two name, bytes
        .globl  \name
        .type   \name,@function
\name:  je      1f
        .fill   125,1,0x58
        jne     2f
1:      .fill   \bytes,1,0x59
2:      ret
        .size   \name,.-\name
        .endm
        two     f,200
        two     g,8
