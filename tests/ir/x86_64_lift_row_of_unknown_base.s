# Words that lead to no entry from any address that code forms: nothing says from where they count,
# so everything to which they may lead stays.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      nop
        nop
        ret
        .size   f,.-f
        .section .rodata
base:   .quad   0
        .long   f+1-base
