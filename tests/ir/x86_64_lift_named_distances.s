# Distances of procedures from a base that their relocations name, as clang's relative virtual
# tables have them: two words that agree on the base, which is in front of the words.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     base(%rip),%rax
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .section .rodata
base:   .quad   0
        .long   f-base
        .long   g-base
