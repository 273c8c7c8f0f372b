# A list with the start and the end of f, which f reads. f does not jump, so the second word is no
# entry of a jump table that is never used: it keeps the address, and f stays.
# run: lift
# run: rewrite scatter seed=2
# link: -e f --build-id
        .text
        .globl  f
        .type   f,@function
f:      lea     list(%rip),%rdx
        cmp     8(%rdx),%rdi
        ret
        .size   f,.-f
1:      .p2align 4
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .data
        .balign 8
list:   .quad   f, 1b
