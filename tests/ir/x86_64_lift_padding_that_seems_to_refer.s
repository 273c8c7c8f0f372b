# The no-op that f jumps over has an operand at g. Nothing leads to the no-op, so it is in no block,
# and its distance is no reference of the lea behind it. But g seems to be read, and stays.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      jmp     1f
        nopl    g(%rip)
1:      lea     g(%rip),%rax
        ret
        .size   f,.-f
        .type   g,@function
g:      ret
        .size   g,.-g
