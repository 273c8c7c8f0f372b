# A jump into the middle of an instruction, as obfuscated and hand-written code has: f and g, into
# which it leads, stay as they are.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      jmp     g+1
        .size   f,.-f
        .type   g,@function
g:      mov     $0xc3c3c3c3,%eax
        ret
        .size   g,.-g
