# Addresses of labels in memory, loaded and jumped to (the `goto *` of an interpreter): the jump may
# lead to each label whose address is taken, and it is the procedure's own.
# run: lift
        .text
        .globl  f
        .ent    f
f:      ldgp    $29,0($27)
        .prologue 1
        ldah    $1,labels($29)          !gprelhigh
        lda     $1,labels($1)           !gprellow
        s8addq  $16,$1,$1
        ldq     $1,0($1)
        jmp     ($1)
0:      lda     $0,1($31)
        ret
1:      lda     $0,2($31)
        ret
        .end    f
        .data
        .align  3
labels: .quad   0b
        .quad   1b
