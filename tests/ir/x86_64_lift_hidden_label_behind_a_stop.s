# The jump to a sum may lead to the code behind ud2, of which nothing says how control comes there:
# its distance from another label may be a number. f stays as it is.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        js      1f
        add     %rcx,%rsi
        jmp     *%rsi
1:      ud2
        mov     $11,%eax
        ret
        .size   f,.-f
        .type   g,@function
g:      ret
        .size   g,.-g
