# xor, which nothing names, may be data, but may also run into g: g stays, f and h may move.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      ret
        .size   f,.-f
        xor     %eax,%eax
        .type   g,@function
g:      ret
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      call    h
        ret
        .size   h,.-h
