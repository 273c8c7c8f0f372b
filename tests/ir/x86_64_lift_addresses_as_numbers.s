# Code that is not position-independent holds addresses as numbers. Those of 32 bits become
# references to g. The one of 64 bits in movabs fits no reference, so h stays as it is, and i, whose
# address it is.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      mov     $g,%edi
        push    $g
        movq    $g,(%rsp)
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      movabs  $i,%rax
        ret
        .size   h,.-h
        .globl  i
        .type   i,@function
i:      ret
        .size   i,.-i
