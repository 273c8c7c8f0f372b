# The program may compare addresses with __start_list: what is in that section stays in its order.
# run: lift
# link: -e f
        .text
        .globl  f
        .ent    f
f:      ldgp    $29,0($27)
        .prologue 1
        ldq     $1,__start_list($29)    !literal
        ret
        .end    f
        .section list,"ax"
        .globl  g
        .type   g,@function
g:      br      $31,f
        .size   g,.-g
