# Each block has the unwind state of its place: that behind push, the remembered one behind the
# early return, and a change in the middle of a block as an instruction of its own.
# run: lift
# The same states come out of any order.
# run: rewrite scatter seed=3
# link: -e f --build-id
        .text
        .globl  f
        .type   f,@function
f:      .cfi_startproc
        push    %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset 3,-16
        test    %edi,%edi
        je      1f
        .cfi_remember_state
        pop     %rbx
        .cfi_restore 3
        .cfi_def_cfa_offset 8
        ret
        .cfi_restore_state
1:      call    f
        pop     %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   f,.-f
