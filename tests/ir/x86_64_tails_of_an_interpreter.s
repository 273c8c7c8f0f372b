# Each operation of an interpreter jumps to one dispatch: a copy of it gives the operation an
# indirect jump of its own, with the same edges.
# run: tails
# run: rewrite after=tails
# link: -e f --build-id
# count: f 1: 100, 60 to 2, 40 to 3
# count: f 2: 60
# count: f 3: 40
# fragment: f 0 1 2 3 5 4
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      lea     table(%rip),%rdx
0:      movzbl  (%rdi),%eax
        inc     %rdi
        movslq  (%rdx,%rax,4),%rax
        add     %rdx,%rax
        jmp     *%rax
1:      inc     %esi
        jmp     0b
2:      dec     %esi
        jmp     0b
3:      ret
        .size   f,.-f
        .section .rodata
table:  .long   1b-table
        .long   2b-table
        .long   3b-table
