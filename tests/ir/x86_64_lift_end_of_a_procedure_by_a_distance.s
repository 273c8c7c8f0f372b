# The same with distances: the second word means no entry, so nothing says from where it counts, and
# f, whose end it may mean, stays.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     list(%rip),%rdx
        movslq  4(%rdx),%rax
        add     %rdx,%rax
        cmp     %rax,%rdi
        ret
        .size   f,.-f
1:      .p2align 4
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .section .rodata
list:   .long   f-list, 1b-list
