# Rows of distances that count from each word itself, as relative virtual tables and lists of
# handlers do: both words lead to entries. Counted from the row's start the second would lead into
# the middle of an instruction.
# run: lift
# run: rewrite scatter seed=2
# link: -e f --build-id
        .text
        .globl  f
        .type   f,@function
f:      lea     row(%rip),%rax
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .section .rodata
row:    .long   f-.
        .long   g-.
