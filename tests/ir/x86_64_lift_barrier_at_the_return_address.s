# gcc's barrier adds nothing to the word on top of the stack, the return address: the caller f may
# move. Other operations change the word, so that control may come back elsewhere: the callers of h
# and j stay as they are.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      call    g
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      lock orq $0,(%rsp)
        ret
        .size   g,.-g
        .type   f1,@function
f1:     call    h
        ret
        .size   f1,.-f1
        .globl  h
        .type   h,@function
h:      lock orq $1,(%rsp)
        ret
        .size   h,.-h
        .type   f2,@function
f2:     call    j
        ret
        .size   f2,.-f2
        .globl  j
        .type   j,@function
j:      lock andq $0,(%rsp)
        ret
        .size   j,.-j
