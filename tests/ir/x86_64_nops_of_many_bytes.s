# No-ops of all lengths go, also those that align a loop. endbr64, pause, a prefetch and what is
# reserved for hints stay, as does a block that is nothing but a no-op.
# run: nops
        .text
        .globl  f
        .type   f,@function
f:      endbr64
        nop
        xchg    %ax,%ax
        nopl    8(%rax,%rax)
        nopw    %cs:0x200(%rax,%rax)
        mov     $1,%eax
        .p2align 4
1:      pause
        prefetcht0 (%rax)
        rdsspq  %rcx
        dec     %eax
        jne     1b
        call    f
        je      2f
        nop
2:      ret
        .size   f,.-f
