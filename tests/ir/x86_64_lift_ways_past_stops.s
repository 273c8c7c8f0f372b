# A handler of the signal may skip ud2: control then goes on in the next block of f, behind padding,
# so the two are joined by an edge. Where the procedure ends with ud2, nothing follows.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      1f
        ud2
        nop
1:      add     $1,%eax
        call    h
        ret
        .size   f,.-f
        .type   g,@function
g:      ud2
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      ret
        .size   h,.-h
