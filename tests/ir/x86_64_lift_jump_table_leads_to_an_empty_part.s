# The cold part of f is empty, and the entry that leads there, which is never used, leads to g: the
# entry goes on leading to g, and all may move.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
        movslq  (%rdx,%rdi,4),%rax
        add     %rdx,%rax
        jmp     *%rax
0:      ret
        .size   f,.-f
        .globl  x
        .type   x,@function
x:      call    f
        ret
        .size   x,.-x
        .type   f.cold,@function
f.cold:
1:
        .size   f.cold,.-f.cold
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .section .rodata
table:  .long   0b-table
        .long   1b-table
