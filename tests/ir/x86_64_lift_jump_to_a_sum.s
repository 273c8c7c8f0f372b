# `goto *(&&base + distance[op])`, the base from memory: the assembler computed the distances, which
# have no relocations and would stay as they are. f stays as it is.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      mov     base(%rip),%rdx
        add     distances(,%rdi,8),%rdx
        jmp     *%rdx
0:      mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
        .section .data.rel.ro,"aw"
        .balign 8
base:   .quad   0b
distances:
        .quad   0
        .quad   1b-0b
