# clang -fsanitize=cfi checks pointers by their places in a table of jumps, of which each is a
# procedure to the linker: all entries stay.
# run: lift
        .text
        .globl  f, g
        .type   f,@function
f:      jmp.d32 f.cfi
        int3
        int3
        int3
        .size   f,.-f
        .p2align 3
        .type   g,@function
g:      jmp.d32 g.cfi
        int3
        int3
        int3
        .size   g,.-g
        .globl  f.cfi, g.cfi
        .type   f.cfi,@function
f.cfi:  call    g
        ret
        .size   f.cfi,.-f.cfi
        .type   g.cfi,@function
g.cfi:  ret
        .size   g.cfi,.-g.cfi
