# A call that runs goes through the pointer of the import itself, of 6 bytes, without the stub's
# jump. The call that never ran stays short, and so does the tail call, which is no call.
# run: imports
# run: rewrite original after=imports
# link: -shared --build-id
# count: f 0: 10
        .text
        .globl  f
        .type   f,@function
f:      call    strlen@PLT
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      call    strlen@PLT
        jmp     strlen@PLT
        .size   g,.-g
