/* Tables in the text: of words of 16 bits, of distances from a label, and used from their end. */
#include "local.inc"
        .type   second,@function
second: lea     7(%rdi),%eax
        ret
        .size   second,.-second

        .globl  tested
        .type   tested,@function
tested: push    %rbx
        mov     %edi,%ebx
        and     $1,%ebx
        call    by_words
        mov     %eax,%edi
        call    from_label
        mov     %eax,%edi
        call    from_end
        pop     %rbx
        ret
        .size   tested,.-tested

        .type   by_words,@function
by_words:
        lea     words(%rip),%rdx
        movswq  (%rdx,%rbx,2),%rax
        add     %rdx,%rax
        jmp     *%rax
        .size   by_words,.-by_words
        .p2align 2
words:  .word   local-words, second-words

        .type   from_label,@function
from_label:
        lea     local(%rip),%rdx
        lea     labels(%rip),%rcx
        movslq  (%rcx,%rbx,4),%rax
        add     %rdx,%rax
        jmp     *%rax
        .size   from_label,.-from_label
        .p2align 2
labels: .long   0, second-local

        .type   from_end,@function
from_end:
        lea     end(%rip),%rdx
        not     %rbx
        movslq  (%rdx,%rbx,4),%rax
        add     %rdx,%rax
        not     %rbx
        jmp     *%rax
        .size   from_end,.-from_end
        .p2align 2
        .long   second-end, local-end
end:
        .section .note.GNU-stack,"",@progbits
