# glibc's older locks jump over the lock prefix of the next instruction where there is one thread:
# the two are one unit that no layout parts.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      cmpl    $0,%fs:0x18
        je      1f
        lock
1:      cmpxchg %ecx,(%rdi)
        jne     2f
        ret
2:      mov     $1,%eax
        ret
        .size   f,.-f
