# The last call of f is one of g, right behind, which never returns; compilers place procedures so.
# The unwind information of g tells g from code that takes the return address for its own, as i may
# be: f and g may move, h and i stay.
# run: lift
        .text
        .globl  f, g, i
        .type   f,@function
f:      call    g
        .size   f,.-f
        .type   g,@function
g:      .cfi_startproc
        jmp     g
        .cfi_endproc
        .size   g,.-g
        .type   h,@function
h:      call    i
        .size   h,.-h
        .type   i,@function
i:      jmp     i
        .size   i,.-i
