# The program may compare addresses with __start_list: what is in that section stays in its order.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     __start_list(%rip),%rax
        ret
        .size   f,.-f
        .section list,"ax"
        .p2align 4
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
