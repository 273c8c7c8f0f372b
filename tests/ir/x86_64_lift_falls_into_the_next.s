# Control runs from f into g, through the no-ops that align g, and behind a conditional jump into a
# block of its own: branches are appended, so that the procedures may be parted.
# run: lift
# run: rewrite scatter seed=1
# link: -e f --build-id
        .text
        .globl  f
        .type   f,@function
f:      xor     %eax,%eax
        .size   f,.-f
        .p2align 4
        .globl  g
        .type   g,@function
g:      test    %edi,%edi
        je      g
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      call    f
        ret
        .size   h,.-h
