# Code without a symbol that unwind information describes is a procedure, whose name is its address.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      call    1f
        ret
        .size   f,.-f
1:      .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        pop     %rbp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
