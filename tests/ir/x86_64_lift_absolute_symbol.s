# A symbol of no section whose number is the address of g: nothing says whether the word means g or
# just the number, so g stays.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      call    g
        ret
        .size   f,.-f
        .p2align 4
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .data
        .quad   number
        .globl  number
        number = 0x401010
