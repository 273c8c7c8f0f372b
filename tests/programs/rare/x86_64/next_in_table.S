/* A table leads to a procedure directly after the procedure that uses the table. */
        .text
        .globl  tested
        .type   tested,@function
tested: lea     table(%rip),%rdx
        and     $1,%edi
        movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
1:      mov     $1,%eax
        ret
        .size   tested,.-tested

        .globl  next
        .type   next,@function
next:   mov     $2,%eax
        ret
        .size   next,.-next

        .section .rodata
table:  .long   1b-table, next-table
        .section .note.GNU-stack,"",@progbits
