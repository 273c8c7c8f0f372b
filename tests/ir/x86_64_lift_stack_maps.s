# LLVM's stack maps hold the address of f, and places in f by their distances from f, which have no
# relocations: f stays as it is. A word elsewhere with the address of g says nothing else.
# run: lift
        .text
        .globl  g
        .type   g,@function
g:      call    g
        ret
        .size   g,.-g
        .globl  f
        .type   f,@function
f:      ret
        .size   f,.-f
        .section .llvm_stackmaps,"a"
        .quad   f
        .data
        .quad   g
