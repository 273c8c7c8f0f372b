# Neither side of the first block follows. The appended jump is executed when the condition does not
# hold, so that has to be the rare side: by the counts the condition is inverted.
# run: pack
# count: f 0: 100, 90 to 1, 10 to 2
# fragment: f 0 3 1 2
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
