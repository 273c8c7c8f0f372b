# -fpatchable-function-entry=4,2: a tracer may write over two no-ops in front of f and two at its
# start. f stays as it is; g, which has none, may move.
# run: lift
        .text
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .p2align 4
patch:  nop
        nop
        .globl  f
        .type   f,@function
f:      nop
        nop
        ret
        .size   f,.-f
        .section __patchable_function_entries,"awo",@progbits,.text
        .balign 8
        .quad   patch
