# The taken side follows: the condition is inverted. The target of a jump follows: the jump goes.
# The fall-through is elsewhere: a jump is appended, of two bytes at first.
# run: pack
# fragment: f 0 2 1 3
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      1f
        mov     $1,%eax
        jmp     2f
1:      mov     $2,%eax
2:      ret
        .size   f,.-f
