# A library in another order: calls of stubs keep their targets, the pointers of the linkage table
# stay, and the library's own procedures are where their dynamic symbols say.
# run: rewrite
# link: -shared --build-id
# fragment: g 0 1
# fragment: f 0 1
        .text
        .globl  f
        .type   f,@function
f:      call    strlen@PLT
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      call    f@PLT
        ret
        .size   g,.-g
