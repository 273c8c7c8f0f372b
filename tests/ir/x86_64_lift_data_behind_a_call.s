# show finds a string behind its call by the return address, and returns behind the string: the
# caller f stays as it is, though the string reads like an instruction.
# run: lift
        .text
        .globl  show
        .type   show,@function
show:   pop     %rsi
1:      lodsb
        test    %al,%al
        jne     1b
        push    %rsi
        ret
        .size   show,.-show
        .globl  f
        .type   f,@function
f:      call    show
        .asciz  "\4"
        ret
        .size   f,.-f
