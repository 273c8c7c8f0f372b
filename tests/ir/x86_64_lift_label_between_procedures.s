# Hand-written code measures f by a label behind it, which has the address of g: the label is in no
# relocation that says what it means, so f and g stay side by side. h may move.
# run: lift
        .text
        .globl  f, f_end
        .type   f,@function
f:      ret
        .size   f,.-f
f_end:
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      lea     f_end(%rip),%rax
        lea     f(%rip),%rdx
        ret
        .size   h,.-h
