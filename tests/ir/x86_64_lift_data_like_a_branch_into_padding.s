# The data behind the jump of f read like a branch into the no-op between f and g, behind which
# control runs on: the no-op keeps its bytes, and g stays.
# run: lift
# run: place
        .text
        .globl  f
        .type   f,@function
f:      jmp     1f
        .byte   0x76,0x08,0x88,0x48,0x01,0x00
1:      push    %rax
        ret
        .size   f,.-f
        .nops   6
        .type   g,@function
g:      ret
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      call    h
        ret
        .size   h,.-h
