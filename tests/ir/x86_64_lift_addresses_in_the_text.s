# Old hand-written code keeps a table of addresses of 64 bits in the text. What nothing runs into
# may be data, and stays; so does f, which adds a number to the address of what may be code.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      jmp     *table(,%rdi,8)
0:      mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
        .p2align 3
table:  .quad   0b
        .quad   1b
