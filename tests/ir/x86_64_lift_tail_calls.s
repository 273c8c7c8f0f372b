# Jumps to other procedures, with a condition and without, and through pointers: none of them makes
# an edge. A jump through a register or memory may leave the procedure, which has no labels.
# run: lift
# Jumps to other procedures are long in any place: f, of 14 bytes in the input, gets 4 for je and 3
# for jmp.
# run: place
        .text
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      g
        js      1f
        jmp     h
1:      jmp     *pointer(%rip)
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      jmp     *%rax
        .size   g,.-g
        .p2align 4
        .globl  h
        .type   h,@function
h:      call    f
        ret
        .size   h,.-h
        .data
        .balign 8
pointer: .quad  g
