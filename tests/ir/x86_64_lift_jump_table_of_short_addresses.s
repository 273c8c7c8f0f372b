# A jump table of addresses of 32 bits: its words are pointers to blocks, and the jump has edges to
# them. But what is loaded with 32 bits counts as computed, and f has labels to which a sum may
# lead: f stays as it is.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      mov     table(,%rdi,4),%eax
        jmp     *%rax
0:      mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
        .section .rodata
table:  .long   0b
        .long   1b
