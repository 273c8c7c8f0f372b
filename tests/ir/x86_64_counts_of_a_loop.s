# Estimates without a profile: the loop runs often, and what ends in ud2 hardly ever.
# run: counts
        .text
        .globl  f
        .type   f,@function
f:      .cfi_startproc
        mov     $10,%ecx
1:      test    %edi,%edi
        je      2f
        dec     %ecx
        jne     1b
        call    f
        ret
2:      ud2
        .cfi_endproc
        .size   f,.-f
