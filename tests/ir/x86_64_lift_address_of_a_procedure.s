# The distance of g, without a relocation: f refers to g by it, and both may move. Without the
# reference, f would form the old address of g.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      lea     g(%rip),%rax
        ret
        .size   f,.-f
        .type   g,@function
g:      ret
        .size   g,.-g
