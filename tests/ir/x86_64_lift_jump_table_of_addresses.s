# The jump table of code that is not position-independent: addresses of 64 bits, whose own address
# is a number in the jump. The rewritten table holds the new addresses.
# run: lift
# run: rewrite scatter seed=1
# link: -e f --build-id
        .text
        .globl  f
        .type   f,@function
f:      jmp     *table(,%rdi,8)
0:      mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
        .section .rodata
        .balign 8
table:  .quad   0b
        .quad   1b
