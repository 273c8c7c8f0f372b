# From the load locked to the store conditional the blocks are glued: nothing comes between them, and
# none of them becomes the target of a branch.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      ldl_l   $1,0($16)
        beq     $1,1f
        addl    $1,1,$1
        stl_c   $1,0($16)
        beq     $1,f
1:      ret
        .size   f,.-f
