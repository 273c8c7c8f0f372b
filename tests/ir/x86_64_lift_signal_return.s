# Unwinders recognise the code to which signal handlers return by its bytes, mov and syscall, so it
# stays, together with the no-op in front: they look up return addresses minus one.
# run: lift
# run: place
        .text
        .globl  f
        .type   f,@function
f:      call    f
        ret
        .size   f,.-f
        .p2align 4
        nop
        .type   __restore_rt,@function
__restore_rt:
        mov     $15,%rax
        syscall
        .size   __restore_rt,.-__restore_rt
