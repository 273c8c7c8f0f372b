# Addresses of labels in memory, loaded and jumped to (the `goto *` of an interpreter). The jump may
# go to each label, and the words follow the labels.
# run: lift
# run: rewrite scatter seed=3
# link: -e f --build-id
        .text
        .globl  f
        .type   f,@function
f:      lea     labels(%rip),%rdx
        jmp     *(%rdx,%rdi,8)
0:      mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
        .section .data.rel.ro,"aw"
        .balign 8
labels: .quad   0b
        .quad   1b
