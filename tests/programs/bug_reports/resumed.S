/* A procedure keeps the address of another procedure in a register, as Rust does with addresses loaded from the global
   offset table. Code after a call of _Unwind_Resume, for which the register has another value, adds to the register. */
        .text
        .globl  resumed
        .type   resumed, @function
resumed:
        .cfi_startproc
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_offset %rbx, -16
        testl   %esi, %esi
        js      .Lsum
        movq    callee@GOTPCREL(%rip), %rbx
        cmpl    $1000, %esi
        ja      .Lresume
        call    *%rbx
        movl    %eax, %edi
        call    *%rbx
        popq    %rbx
        .cfi_remember_state
        .cfi_adjust_cfa_offset -8
        ret
.Lsum:
        .cfi_restore_state
        movslq  %esi, %rbx
        jmp     .Ladd
.Lresume:
        xorl    %edi, %edi
        call    _Unwind_Resume@PLT
.Ladd:
        leaq    3(%rbx,%rbx), %rax
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   resumed, .-resumed
        .section .note.GNU-stack, "", @progbits
