# A comparison of floating-point numbers takes two jumps: unequal or unordered. Each is a block, and
# each is inverted by itself where its target follows; jnp then jumps over je, not beyond it.
# run: lift
# run: pack
# fragment: f 0 3 1 2
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      ucomisd %xmm1,%xmm0
        jp      1f
        jne     1f
        mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
