# jrcxz, loop and jumps with a prefix of the form of one byte reach 127 bytes and have no long form:
# their procedures stay as they are.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      jrcxz   1f
        call    h
1:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:
1:      loop    1b
        ret
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      bnd jmp 1f
1:      ret
        .size   h,.-h
