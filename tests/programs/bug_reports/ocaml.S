/* OCaml's output for two units: labels around their code, tables of return addresses and of the labels in data,
   handlers of exceptions whose addresses are pushed, and calls with arguments in any registers. A routine of the runtime
   keeps its return address for the collector, as caml_call_gc does. */
        .text
        .globl  caml_system__code_begin, caml_system__code_end, caml_last_return, caml_last_raise
caml_system__code_begin:
        .type   caml_call_gc, @function
caml_call_gc:
        popq    %r11
        movq    %r11, caml_last_return(%rip)
        pushq   %r11
        addq    $1, %rax
        ret
        .size   caml_call_gc, .-caml_call_gc
        .type   caml_raise_exn, @function
caml_raise_exn:
        movq    (%rsp), %r11
        movq    %r11, caml_last_raise(%rip)
        movq    caml_exception_pointer(%rip), %rsp
        popq    caml_exception_pointer(%rip)
        popq    %r11
        jmp     *%r11
        .size   caml_raise_exn, .-caml_raise_exn
caml_system__code_end:
        .skip   8, 0x90

        .globl  camlT__code_begin, camlT__code_end, camlT__leaf, camlT__other, camlT__twice
camlT__code_begin:
        .type   camlT__leaf, @function
camlT__leaf:
        .cfi_startproc
        leaq    1(%rdi,%rdi,2), %rax
        ret
        .cfi_endproc
        .size   camlT__leaf, .-camlT__leaf
        .p2align 4
        .type   camlT__other, @function
camlT__other:
        .cfi_startproc
        movq    %rdi, %rax
        testq   %rdi, %rdi
        js      1f
        xorq    $5, %rax
1:      ret
        .cfi_endproc
        .size   camlT__other, .-camlT__other
        .p2align 4
        .type   camlT__twice, @function
camlT__twice:
        .cfi_startproc
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    camlT__leaf@PLT
.Lfirst:
        movq    %rax, %rdi
        call    caml_call_gc
.Lsecond:
        addq    %rdi, %rax
        call    found_here@PLT
.Lthird:
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   camlT__twice, .-camlT__twice
camlT__code_end:

        .globl  camlU__code_begin, camlU__code_end, camlU__guarded, camlU__apply, camlU__closure
camlU__code_begin:
        .p2align 4
        .type   camlU__risky, @function
camlU__risky:
        .cfi_startproc
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        testq   $1, %rax
        jne     .Lraise
        testq   $2, %rax
        je      1f
        movq    %rax, %rbx
        call    caml_call_gc
.Lcollected:
        subq    %rbx, %rax
1:      addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_adjust_cfa_offset 8
.Lraise:
        testq   $4, %rax
        jne     .Lraise_here
        call    caml_raise_exn
.Lraised:
.Lraise_here:
        movq    caml_exception_pointer(%rip), %rsp
        popq    caml_exception_pointer(%rip)
        popq    %r11
        jmp     *%r11
        .cfi_endproc
        .size   camlU__risky, .-camlU__risky
        .p2align 4
        .type   camlU__guarded, @function
camlU__guarded:
        .cfi_startproc
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        movq    %rdi, %rax
        leaq    .Lhandler(%rip), %r11
        pushq   %r11
        .cfi_adjust_cfa_offset 8
        pushq   caml_exception_pointer(%rip)
        .cfi_adjust_cfa_offset 8
        movq    %rsp, caml_exception_pointer(%rip)
        call    camlU__risky
.Lguarded:
        popq    caml_exception_pointer(%rip)
        .cfi_adjust_cfa_offset -8
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
1:      popq    %rbx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_adjust_cfa_offset 8
.Lhandler:
        addq    $100000, %rax
        jmp     1b
        .cfi_endproc
        .size   camlU__guarded, .-camlU__guarded
        .p2align 4
        .type   camlU__add, @function
camlU__add:
        .cfi_startproc
        addq    %r10, %rax
        addq    8(%rbx), %rax
        subq    %r12, %rax
        ret
        .cfi_endproc
        .size   camlU__add, .-camlU__add
        .p2align 4
        .type   camlU__apply, @function
camlU__apply:
        .cfi_startproc
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %rdi, %rbx
        movq    %rsi, %rax
        movq    $5, %r10
        leaq    (%rsi,%rsi), %r12
        call    *(%rbx)
.Lapplied:
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r12
        .cfi_adjust_cfa_offset -8
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   camlU__apply, .-camlU__apply
#ifdef STORED
        /* Keeps the address of a label, which is no handler, and of which other code computes further places. */
        .globl  camlU__keep, jump_beyond
        .p2align 4
        .type   camlU__keep, @function
camlU__keep:
        .cfi_startproc
        leaq    1f(%rip), %rax
        movq    %rax, kept_place(%rip)
        xorl    %eax, %eax
        ret
        .p2align 3
1:      leaq    100(%rdi), %rax
        ret
        .p2align 3
        leaq    200(%rdi), %rax
        ret
        .p2align 3
        leaq    300(%rdi), %rax
        ret
        .cfi_endproc
        .size   camlU__keep, .-camlU__keep
#endif
camlU__code_end:
#ifdef STORED
        .type   jump_beyond, @function
jump_beyond:
        movq    kept_place(%rip), %rcx
        leaq    (%rcx,%rdi,8), %rcx
        jmp     *%rcx
        .size   jump_beyond, .-jump_beyond
        .data
        .p2align 3
kept_place:
        .quad   0
        .text
#endif
#ifdef BETWEEN
        /* The runtime, written in C, lies between the units and an empty unit. */
        .section .text.zz_last, "ax", @progbits
        .globl  camlV__code_begin, camlV__code_end
        .skip   128, 0x90
camlV__code_begin:
camlV__code_end:
        nop
#endif

        .data
        .globl  camlT__frametable, camlU__frametable, caml_code_segments
        .p2align 3
caml_last_return:
        .quad   0
caml_last_raise:
        .quad   0
caml_exception_pointer:
        .quad   0
camlU__closure:
        .quad   camlU__add, 7
        .type   camlT__frametable, @object
camlT__frametable:
        .quad   3
        .quad   .Lfirst
        .short  16, 0
        .p2align 3
        .quad   .Lsecond
        .short  16, 0
        .p2align 3
        .quad   .Lthird
        .short  16, 0
        .p2align 3
        .size   camlT__frametable, .-camlT__frametable
        .type   camlU__frametable, @object
camlU__frametable:
        .quad   4
        .quad   .Lcollected
        .short  16, 0
        .p2align 3
        .quad   .Lraised
        .short  16, 0
        .p2align 3
        .quad   .Lguarded
        .short  32, 0
        .p2align 3
        .quad   .Lapplied
        .short  32, 0
        .p2align 3
        .size   camlU__frametable, .-camlU__frametable
caml_code_segments:
        .quad   camlT__code_begin, camlT__code_end
        .quad   camlU__code_begin, camlU__code_end
#ifdef BETWEEN
        .quad   camlV__code_begin, camlV__code_end
#endif
        .quad   0
        .section .note.GNU-stack, "", @progbits
