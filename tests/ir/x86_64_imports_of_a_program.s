# A program that is linked to a library: the call of g leads to the program's stub and then,
# directly, through the pointer that the dynamic linker fills in.
# run: imports
# link: -pie -e f
# count: f 0: 10
        .text
        .globl  f
        .type   f,@function
f:      call    g@PLT
        ret
        .size   f,.-f
# file: libg.so
        .text
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
