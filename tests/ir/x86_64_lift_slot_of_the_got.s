# cmpq with g's slot of the global offset table, which the linker filled in: the slot is a pointer
# to g and follows it.
# run: lift
# run: rewrite scatter seed=1
# link: -e f -z norelro --build-id
        .text
        .globl  f
        .type   f,@function
f:      cmp     %rax,g@GOTPCREL(%rip)
        jne     1f
        call    g
1:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
