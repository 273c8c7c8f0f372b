# Jumps with a prefix keep their bytes: there is no inverted form of them, so a jump is appended
# though the taken side follows, and they keep their length.
# run: pack
# fragment: f 0 2 1
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        bnd jne.d32 1f
        mov     $1,%eax
        ret
1:      mov     $2,%eax
        ret
        .size   f,.-f
