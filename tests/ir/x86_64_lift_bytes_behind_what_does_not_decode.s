# The last byte of f does not decode, and may begin an instruction that ends with the no-op behind:
# the no-op keeps its byte, and g stays.
# run: lift
# run: place
        .text
        .globl  f
        .type   f,@function
f:      ret
        .byte   0x1f
        .size   f,.-f
        nop
        .type   g,@function
g:      ret
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      call    h
        ret
        .size   h,.-h
