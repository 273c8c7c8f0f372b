# Distances of 64 bits from the table, as the large code model has: only words of 32 bits are known
# to count from a table, so nothing says from where these do, and f stays.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
        add     (%rdx,%rdi,8),%rdx
        jmp     *%rdx
0:      mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
        .section .rodata
        .balign 8
table:  .quad   0b-table
        .quad   1b-table
