/* Two functions of exceptions.c that keep registers in a struct registers (unwind.h): pc at 0,
   integers from 8 on, floating-point registers from 264 on. */

        .set    noat
        .set    noreorder
        .text

/* What calls preserve, and ra. */
        .macro  preserved integer, floating, base
        .irp    r, 9,10,11,12,13,14,15,26
        \integer $\r, 8+8*\r(\base)
        .endr
        .irp    r, 2,3,4,5,6,7,8,9
        \floating $f\r, 264+8*\r(\base)
        .endr
        .endm

/* void resume_at(const struct registers*): continues at pc; v0 is the result of an exception. */
        .align  4
        .globl  resume_at
        .ent    resume_at
resume_at:
        .prologue 0
        mov     $16, $1
        preserved ldq, ldt, $1
        ldq     $0, 8($1)
        ldq     $28, 0($1)
        ldq     $30, 8+8*30($1)
        jmp     $31, ($28), 0
        .end    resume_at

/* RaiseException(code, flags, count, parameters): raise_here() with the same arguments and the
   registers of the caller. */
        .align  4
        .globl  raise_exception
        .ent    raise_exception
raise_exception:
        ldgp    $29, 0($27)
        .prologue 1
        lda     $30, -544($30)
        stq     $26, 0($30)
        preserved stq, stt, $30
        lda     $1, 544($30)
        stq     $1, 8+8*30($30)
        mov     $30, $20
        jsr     $26, raise_here
        ldgp    $29, 0($26)
        ldq     $26, 0($30)
        lda     $30, 544($30)
        ret     $31, ($26), 1
        .end    raise_exception

        .section .note.GNU-stack, "", @progbits
