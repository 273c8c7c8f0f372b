# The jump is through a table of two entries that no other code names: its block has an edge for each
# of them, and the words of the table are pointers to blocks.
# run: lift
# The blocks of f change places: each entry of the table, the branches and the symbols follow.
# run: rewrite scatter seed=3
# link: -e f --build-id
        .text
        .globl  f
        .ent    f
f:      ldgp    $29,0($27)
        .prologue 1
        and     $16,1,$2
        ldah    $1,table($29)           !gprelhigh
        lda     $1,table($1)            !gprellow
        s4addq  $2,$1,$1
        ldl     $1,0($1)
        addq    $1,$29,$1
        jmp     ($1)
0:      lda     $0,1($31)
        ret
1:      lda     $0,2($31)
        ret
        .end    f
        .section .rodata
        .align  2
table:  .gprel32 0b
        .gprel32 1b
