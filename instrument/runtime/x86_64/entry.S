/* Where the start code is entered, at its first byte, and where the parameters are: after its last.

   The same entry serves as the entry point of an executable, where the only certain registers are
   rsp and rdx (the dynamic linker's finalizer), and as DT_INIT of a library, a call with arguments
   and a return address. All registers and flags are kept but r11, which holds the address of the
   code that goes on; where no code goes on, r11 leads to a return.

   The C code keeps rbx, rbp and r12 to r15, as the calling standard wants (System V ABI, AMD64
   supplement, 3.2.1), and uses general registers only. An endbr64 stands where an indirect branch
   arrives, so that images for processors that check this (CET) stay such images. */

        /* What C code may change beside rax, r11 and flags. */
        .macro  push_scratch
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        .endm
        .macro  pop_scratch
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        .endm

        .set    RESPIKE_COPY_PAGE, 4096 /* instrument/runtime/counter_file.h */

        /* The linker script puts this first ... */
        .section .text.first,"ax",@progbits
        .globl  respike_entry
respike_entry:
        endbr64
        jmp     save

        /* Probes call this second entry, at a fixed place. It changes nothing but flags. */
        .balign 16
        .globl  respike_find
respike_find:
        pushq   %rax
        pushq   %r11
        leaq    parameters(%rip),%r11
        addq    (%r11),%r11             /* the counters */
        movq    %gs:-RESPIKE_COPY_PAGE(%r11),%rax
        cmpq    %fs:0,%rax
        jne     find
        popq    %r11
        popq    %rax
        ret

        /* ... and this last, since the distance to the parameters has to be known here. */
        .section .text.last,"ax",@progbits
save:   pushfq
        pushq   %rax
        push_scratch
        cld
        leaq    parameters(%rip),%rdi
        call    respike_start
        leaq    return(%rip),%r11
        testq   %rax,%rax
        cmovnzq %rax,%r11
        pop_scratch
        popq    %rax
        popfq
        jmp     *%r11
return: endbr64
        ret

find:
        push_scratch
        cld
        leaq    parameters(%rip),%rdi
        call    respike_find_copy
        pop_scratch
        popq    %r11
        popq    %rax
        ret
        .balign 16
parameters:

        .section .note.GNU-stack,"",@progbits
