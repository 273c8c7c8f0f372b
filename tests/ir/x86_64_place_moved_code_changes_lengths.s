# In the input the jump of f is long. The order brings its target near, and the jump gets the short
# form; the one that is appended to g's loop, behind which the rest is far away, gets the long one.
# run: place original
# run: place
# run: rewrite
# link: -e f --build-id
# fragment: f 0 2
# fragment: g 0
# fragment: f 1
# fragment: g 1
        .text
        .reloc  f,R_X86_64_NONE
        .macro  many
        .rept   13
        movabs  $0x1111111111111111,%rax
        .endr
        .endm
        .globl  f, g
        .type   f,@function
f:      test    %edi,%edi
        je      1f
        many
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
        .type   g,@function
g:      dec     %edi
        jne     g
        mov     $3,%eax
        ret
        .size   g,.-g
