/* What OCaml's compiler makes of two units: labels around their code, and tables of return addresses in data. A routine of
   the runtime keeps its return address for the collector, as caml_call_gc does. */
        .text
        .globl  caml_system__code_begin, caml_system__code_end, caml_last_return
caml_system__code_begin:
        .type   caml_call_gc, @function
caml_call_gc:
        popq    %r11
        movq    %r11, caml_last_return(%rip)
        pushq   %r11
        addq    $1, %rax
        ret
        .size   caml_call_gc, .-caml_call_gc
caml_system__code_end:

        .globl  camlT__code_begin, camlT__code_end, camlT__leaf, camlT__other, camlT__twice, camlT__find
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

        .data
        .globl  camlT__frametable, caml_system__frametable
        .p2align 3
caml_last_return:
        .quad   0
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
        .section .note.GNU-stack, "", @progbits
