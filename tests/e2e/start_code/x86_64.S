/* The part of image.S for x86-64. */

#define RLIMIT_NOFILE 7
#define SYS_setrlimit 160
#define FLAGS 0xad7 /* all that a computation sets: o s z a p c; and interrupts */

        .text
#ifdef LIBRARY
        .globl  initializer
initializer:
        endbr64
        addq    $7,8+counters(%rip)
        leaq    start_code(%rip),%r11
        jmp     *%r11
#else
        .data
        .globl  values, results
        .balign 8
        /* The contents of the registers: 16 general, 16 vector registers of two words, flags; rsp, r11 and
           flags are not from here. */
values:
        i = 0
        .rept   49
        .quad   0x0123456789abcdef + 0x1111111111111111 * (i % 15) + i
        i = i + 1
        .endr
        .bss
        .balign 8
system_registers:
        .zero   2 * 8
results:
        .zero   49 * 8

        /* The general registers by their numbers in instructions, but rsp. */
        .macro  each_register action, where
        \action 0,%rax,\where
        \action 1,%rcx,\where
        \action 2,%rdx,\where
        \action 3,%rbx,\where
        \action 5,%rbp,\where
        \action 6,%rsi,\where
        \action 7,%rdi,\where
        .irp    r,8,9,10,11,12,13,14,15
        \action \r,%r\r,\where
        .endr
        .endm
        .macro  load number, name, where
        movq    \number*8+\where(%rip),\name
        .endm
        .macro  store number, name, where
        movq    \name,\number*8+\where(%rip)
        .endm

        .text
        .globl  program
program:
        addq    $7,8+counters(%rip)
        movq    %rdx,system_registers(%rip)
        movq    %rsp,8+system_registers(%rip)
#ifdef FILES_LIMIT
        pushq   $FILES_LIMIT
        pushq   $FILES_LIMIT
        movl    $SYS_setrlimit,%eax
        movl    $RLIMIT_NOFILE,%edi
        movq    %rsp,%rsi
        syscall
        addq    $16,%rsp
#endif
        movq    %rsp,4*8+values(%rip)
        leaq    checked(%rip),%r11
        movq    %r11,11*8+values(%rip)
        movq    $FLAGS,48*8+values(%rip)
        .irp    r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movdqu  16*8+16*\r+values(%rip),%xmm\r
        .endr
        pushq   $FLAGS
        popfq
        each_register load,values
        jmp     start_code

checked:
        each_register store,results
        movq    %rsp,4*8+results(%rip)
        pushfq
        popq    48*8+results(%rip)
        .irp    r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movdqu  %xmm\r,16*8+16*\r+results(%rip)
        .endr
        movq    system_registers(%rip),%rdx
        movq    8+system_registers(%rip),%rsp
        xorl    %ebp,%ebp
        jmp     _start
#endif
