/* Alpha's part of image.S. */

        .set    noat

#define RLIMIT_NOFILE 6 /* of Alpha */
#define SYS_setrlimit 145

        .text
        .macro  count_seven
        lda     $1,counters
        ldq     $2,8($1)
        addq    $2,7,$2
        stq     $2,8($1)
        .endm

#ifdef LIBRARY
        .globl  initializer
initializer:
        ldgp    $29,0($27)
        count_seven
        lda     $27,start_code
        jmp     $31,($27),0
#else
        .comm   system_registers,16,8
        .data
        .globl  values, results
        .balign 8
        /* The contents of the registers, 31 integer and 31 floating; sp and pv are not from here. */
values:
        i = 0
        .rept   62
        .quad   0x0123456789abcdef + 0x1111111111111111 * (i % 15) + i
        i = i + 1
        .endr
        .bss
        .balign 8
results:
        .zero   62 * 8
        .text

        .globl  program
program:
        br      $27,1f
1:      ldgp    $29,0($27)
        count_seven
        lda     $1,system_registers
        stq     $0,0($1)
        stq     $30,8($1)
#ifdef FILES_LIMIT
        lda     $30,-16($30)
        lda     $1,FILES_LIMIT
        stq     $1,0($30)
        stq     $1,8($30)
        lda     $0,SYS_setrlimit
        lda     $16,RLIMIT_NOFILE
        mov     $30,$17
        callsys
        lda     $30,16($30)
#endif
        lda     $27,start_code
        lda     $1,values
        stq     $30,30*8($1)
        lda     $2,checked
        stq     $2,27*8($1)
        mov     $1,$28
        i = 0
        .irp    r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,29
        ldq     $\r,\r*8($28)
        .endr
        .irp    r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
        ldt     $f\r,(\r+31)*8($28)
        .endr
        ldq     $28,28*8($28)
        jmp     $31,($27),0

checked:
        lda     $30,-512($30)
        .irp    r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29
        stq     $\r,\r*8($30)
        .endr
        .irp    r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
        stt     $f\r,(\r+31)*8($30)
        .endr
        lda     $1,512($30)
        stq     $1,30*8($30)
        br      $27,1f
1:      ldgp    $29,0($27)
        lda     $1,results
        mov     $30,$2
        lda     $3,62
1:      ldq     $4,0($2)
        stq     $4,0($1)
        lda     $1,8($1)
        lda     $2,8($2)
        subq    $3,1,$3
        bne     $3,1b
        lda     $1,system_registers
        ldq     $0,0($1)
        ldq     $30,8($1)
        lda     $27,_start
        jmp     $31,($27),0
#endif
