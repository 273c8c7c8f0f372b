# A switch as GCC compiles it: the words of the table are distances from their own places to blocks,
# so each entry is a pointer of its own, and the jump leads to both blocks.
# run: lift
        .text
        .global f#
        .proc   f#
f:
        addl    r14=@ltoffx(.Ltable),r1 ;;
        ld8.mov r14=[r14],.Ltable ;;
        shladd  r14=r32,3,r14 ;;
        ld8     r15=[r14] ;;
        add     r15=r15,r14 ;;
        mov     b6=r15
        br      b6 ;;
.L0:    mov     r8=1
        br.ret.sptk.many b0 ;;
.L1:    mov     r8=2
        br.ret.sptk.many b0 ;;
        .endp   f#
        .section .rodata,"a"
        .align  8
.Ltable:
        data8   @pcrel(.L0)
        data8   @pcrel(.L1)
        .data
        data8   @fptr(f#)
