# gcc -mharden-sls=all puts int3 behind jumps and returns: padding, in no block. The int3 behind ud2
# is code to which a handler may go on.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      1f
        jmp     *%rax
        int3
1:      ud2
        int3
        call    g
        ret
        int3
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
