# f forms an address inside of g, which f may compute with: g stays as it is, f may move.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      lea     g+1(%rip),%rax
        ret
        .size   f,.-f
        .type   g,@function
g:      nop
        ret
        .size   g,.-g
