# The address of g is a displacement to which a register is added: where the sum leads is not known,
# so f and g stay.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     g(,%rdi,8),%rax
        jmp     *%rax
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
