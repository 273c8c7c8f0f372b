# The address of a label in f is kept in data, but no jump of f can have loaded it from there: the
# kernel may know it, or it is data. f stays as it is.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      call    *%rax
0:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .data
        .balign 8
label:  .quad   0b
