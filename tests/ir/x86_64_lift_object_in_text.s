# A symbol of the type of objects, with a size: data in the text, which stays as it is, byte for
# byte. The code in front and behind may move.
# run: lift
# run: place scatter
        .text
        .globl  f
        .type   f,@function
f:      mov     mask(%rip),%rax
        call    g
        ret
        .size   f,.-f
        .balign 16
        .type   mask,@object
mask:   .quad   0x0f0f0f0f0f0f0f0f
        .quad   0xc3c3c3c3c3c3c3c3
        .size   mask,.-mask
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
