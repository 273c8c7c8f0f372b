# Code below a symbol of type object, as GHC has it for the tables of hand-written code: its branch leads to a label in
# another procedure.
        .text
        .globl run, finish
        .type run,@function
run:    push    %rbx
        mov     %rdi,%rax
        mov     %rsi,%rdi
        jmp     *%rax
finish: mov     %rdi,%rax
        pop     %rbx
        ret
        .size run,.-run

        .globl stop_info
        .quad   0x11, 0x22
        .type stop_info,@object
stop_info:
        lea     5(%rdi),%rdi
        jmp     finish
        .size stop_info,.-stop_info
        .section .note.GNU-stack,"",@progbits
