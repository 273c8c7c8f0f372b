# Nothing names or enters what stands between f and g, and it has no relocations of instructions: it
# counts as data and stays. The word that reads like a branch to f pins f.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      ret
        .size   f,.-f
        .long   0x2345
        .long   0xc3fffffd              # reads like a branch to f
        .globl  g
        .type   g,@function
g:      bsr     $26,f
        ret
        .size   g,.-g
