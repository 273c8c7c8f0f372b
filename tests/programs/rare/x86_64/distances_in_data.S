/* Distances of code in data, which the assembler resolved: from the procedure that jumps, from
   another one, and of 16 bits that are added to an address for a call. */
        .text
        .type   operation,@function
operation:
        lea     1(%rdi),%eax
        ret
        .size   operation,.-operation

        .globl  tested
        .type   tested,@function
tested: push    %rbx
        mov     %edi,%ebx
        and     $3,%ebx
        call    within
        mov     %eax,%edi
        call    between
        mov     %eax,%edi
        lea     operation(%rip),%rcx
        lea     words(%rip),%rdx
        movzwl  (%rdx,%rbx,2),%eax
        add     %rcx,%rax
        call    *%rax
        pop     %rbx
        ret
        .size   tested,.-tested

        .type   within,@function
within: lea     within(%rip),%rax
        lea     parts-8(%rip),%rdx
        movslq  8(%rdx,%rbx,4),%rdx
        add     %rax,%rdx
        jmp     *%rdx
.La:    add     $1,%edi
.Lb:    add     $2,%edi
.Lc:    add     $4,%edi
.Ld:    lea     8(%rdi),%eax
        ret
        .size   within,.-within

        .type   between,@function
between:
        lea     step0(%rip),%rax
        lea     steps-8(%rip),%rdx
        movslq  8(%rdx,%rbx,4),%rdx
        add     %rax,%rdx
        jmp     *%rdx
        .size   between,.-between
        .type   step0,@function
step0:  lea     100(%rdi),%eax
        ret
        .size   step0,.-step0
        .type   step1,@function
step1:  lea     200(%rdi),%eax
        ret
        .size   step1,.-step1
        .type   step2,@function
step2:  lea     300(%rdi),%eax
        ret
        .size   step2,.-step2
        .type   twice,@function
twice:  lea     (%rdi,%rdi),%eax
        ret
        .size   twice,.-twice
        .type   thrice,@function
thrice: lea     (%rdi,%rdi,2),%eax
        ret
        .size   thrice,.-thrice

        .section .rodata
        .p2align 2
steps:  .long   step0-step0, step1-step0, step2-step0, step1-step0
parts:  .long   .La-within, .Lb-within, .Lc-within, .Ld-within
        .type   words,@object
words:  .word   operation-operation, twice-operation, thrice-operation, twice-operation
        .size   words,.-words
        .section .note.GNU-stack,"",@progbits
