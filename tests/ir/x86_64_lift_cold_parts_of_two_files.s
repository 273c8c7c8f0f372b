# Two files have a local f with a part f.cold: each part belongs to the f of its own file.
# run: lift
# link: -e g
        .file   "a.c"
        .text
        .type   f,@function
f:      test    %edi,%edi
        je      f.cold
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .section .text.unlikely,"ax"
        .type   f.cold,@function
f.cold: call    g
        ud2
        .size   f.cold,.-f.cold
# file: b.s
        .file   "b.c"
        .text
        .type   f,@function
f:      test    %esi,%esi
        je      f.cold
        ret
        .size   f,.-f
        .section .text.unlikely,"ax"
        .type   f.cold,@function
f.cold: call    g
        ud2
        .size   f.cold,.-f.cold
