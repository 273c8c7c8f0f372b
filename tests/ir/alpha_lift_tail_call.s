# A jump through the procedure value is a call of another procedure that does not come back here: it
# may leave f, and nothing in f follows. The branch at the end of g leads to f by name.
# run: lift
        .text
        .globl  f
        .ent    f
f:      ldgp    $29,0($27)
        .prologue 1
        ldq     $27,pointer($29)        !gprel
        jmp     $31,($27)
        .end    f
        .globl  g
        .ent    g
g:      .prologue 0
        bis     $31,$16,$27
        br      $31,f
        .end    g
        .section .sdata,"aw"
pointer: .quad  0
