# The text asks for an alignment of 64, and f and g have it: that is no accident, and they keep it
# where an alignment of 16 would do for others.
# run: place
# fragment: h 0 1
# fragment: g 0
# fragment: f 0
        .text
        .p2align 6
        .globl  f, g, h
        .type   f,@function
f:      ret
        .size   f,.-f
        .p2align 6
        .type   g,@function
g:      ret
        .size   g,.-g
        .p2align 4
        .type   h,@function
h:      call    f
        ret
        .size   h,.-h
