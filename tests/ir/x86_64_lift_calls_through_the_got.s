# -fno-plt: calls, tail calls and loads through the global offset table. The slot of strlen is for
# the dynamic linker. The linker turned those of the local g into what needs no slot: a call with a
# prefix, a jump with a no-op behind it, an lea; each refers to g.
# run: lift
# run: rewrite scatter seed=2
# link: -shared -z now --build-id
        .text
        .globl  f
        .type   f,@function
f:      call    *strlen@GOTPCREL(%rip)
        call    *g@GOTPCREL(%rip)
        mov     g@GOTPCREL(%rip),%rax
        jmp     *g@GOTPCREL(%rip)
        .size   f,.-f
        .globl  g
        .hidden g
        .type   g,@function
g:      jmp     *strlen@GOTPCREL(%rip)
        .size   g,.-g
