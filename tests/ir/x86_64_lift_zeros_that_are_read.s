# A mask of zeros between two procedures looks like padding, which layouts overwrite. f reads it by
# its distance, so the gap keeps its bytes.
# run: lift
# run: place
        .text
        .globl  f
        .type   f,@function
f:      pshufb  1f(%rip),%xmm0
        call    g
        ret
        .size   f,.-f
        .balign 16,0x90
1:      .zero   16
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
