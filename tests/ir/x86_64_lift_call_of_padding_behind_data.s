# The call behind the data, of which nothing is decoded, leads to no-ops and so to g: the no-ops
# keep their bytes, and g stays.
# run: lift
# run: place
        .text
        .globl  f
        .type   f,@function
f:      jmp     1f
        .byte   0x76,0x00,0x88,0x48,0x01,0x00
1:      push    %rax
        call    2f
        pop     %rax
        ret
        .size   f,.-f
        .nops   4
2:      .nops   4
        .type   g,@function
g:      ret
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      call    h
        ret
        .size   h,.-h
