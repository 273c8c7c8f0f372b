/* Where the start code is entered, at its first byte, and where the parameters are: after its last.

   The same entry serves as the entry point of an executable, where the only certain registers are
   rsp and rdx (the dynamic linker's finalizer), and as DT_INIT of a library, a call with arguments
   and a return address. All registers and flags are kept except r11, which holds the address of the
   code that continues; where no code continues, r11 leads to a return.

   The C code keeps rbx, rbp and r12 to r15, as the calling standard wants (System V ABI, AMD64
   supplement, 3.2.1), and uses only general registers. An endbr64 marks each place where an
   indirect branch arrives, so that images keep this property for processors that check it (CET). */

        /* Unwind information gives the place of the return address after each push, since signals
           arrive here and their handlers unwind. Only the first entry, which may have no caller,
           leaves the return address undefined. */

        .macro  push register
        pushq   \register
        .cfi_adjust_cfa_offset 8
        .endm
        .macro  pop register
        popq    \register
        .cfi_adjust_cfa_offset -8
        .endm

        /* The registers that C code may change besides rax, r11 and flags. */
        .macro  push_scratch
        push    %rcx
        push    %rdx
        push    %rsi
        push    %rdi
        push    %r8
        push    %r9
        push    %r10
        .endm
        .macro  pop_scratch
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rdi
        pop     %rsi
        pop     %rdx
        pop     %rcx
        .endm

        .set    RESPIKE_COPY_PAGE, 4096 /* instrument/runtime/counter_file.h */

        /* The linker script puts this first ... */
        .section .text.first,"ax",@progbits
        .globl  respike_entry
respike_entry:
        endbr64
        jmp     save

        /* Probes call this second entry, at a fixed place. It changes only flags. */
        .balign 16
        .globl  respike_find
respike_find:
        .cfi_startproc
        push    %rax
        push    %r11
        leaq    parameters(%rip),%r11
        addq    (%r11),%r11             /* the counters */
        movq    %gs:-RESPIKE_COPY_PAGE(%r11),%rax
        cmpq    %fs:0,%rax
        jne     find
        pop     %r11
        pop     %rax
        ret
        .cfi_endproc

        /* ... and this last, since the distance to the parameters has to be known here. */
        .section .text.last,"ax",@progbits
save:   .cfi_startproc
        .cfi_undefined rip
        pushfq
        .cfi_adjust_cfa_offset 8
        push    %rax
        push_scratch
        cld
        leaq    parameters(%rip),%rdi
        call    respike_start
        leaq    return(%rip),%r11
        testq   %rax,%rax
        cmovnzq %rax,%r11
        pop_scratch
        pop     %rax
        popfq
        .cfi_adjust_cfa_offset -8
        jmp     *%r11
return: endbr64
        ret
        .cfi_endproc

find:   .cfi_startproc
        .cfi_def_cfa_offset 24          /* the return address, rax and r11 */
        push_scratch
        cld
        leaq    parameters(%rip),%rdi
        call    respike_find_copy
        pop_scratch
        pop     %r11
        pop     %rax
        ret
        .cfi_endproc
        .balign 16
parameters:

        .section .note.GNU-stack,"",@progbits
