# LuaJIT keeps the places of its operations as distances of 16 bits from a procedure: what is added
# to keeps its place, and so does h, to which a number of the table leads; i may move.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     g(%rip),%rcx
        lea     places(%rip),%rax
        movzwl  (%rax,%rdi,2),%edx
        add     %rcx,%rdx
        mov     %rdx,(%rsi)
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .p2align 4
        .globl  h
        .type   h,@function
h:      ret
        .size   h,.-h
        .p2align 4
        .globl  i
        .type   i,@function
i:      ret
        .size   i,.-i
        .section .rodata
        .type   places,@object
places: .word   h-g
        .size   places,.-places
