# gcc's and clang's jump table in position-independent code: distances from the table, 32 bits each.
# Each word is a pointer to a block that counts from the table, and the jump has an edge to each.
# The guard is not needed to find the end of the table: its words have relocations.
# run: lift
# The blocks change places: each word of the table follows its block.
# run: rewrite scatter seed=2
# link: -e f --build-id
        .text
        .globl  f
        .type   f,@function
f:      cmp     $1,%edi
        ja      1f
        lea     table(%rip),%rdx
        movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
0:      mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
        .section .rodata
table:  .long   0b-table
        .long   1b-table
