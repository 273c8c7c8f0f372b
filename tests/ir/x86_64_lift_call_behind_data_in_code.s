# clang -fsanitize=function puts a jump over six bytes of data in front of a procedure. Read in a
# row, the data take the first byte of the call with them, so the call is not decoded: f and its
# callee stay, with a relocation of the call (g) and without (i).
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      jmp     1f
        .byte   0x76,0x00,0x88,0x48,0x01,0x00
1:      push    %rax
        call    g
        pop     %rax
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .p2align 4
        .type   h,@function
h:      jmp     1f
        .byte   0x76,0x00,0x88,0x48,0x01,0x00
1:      push    %rax
        call    i
        pop     %rax
        ret
        .size   h,.-h
        .type   i,@function
i:      ret
        .size   i,.-i
