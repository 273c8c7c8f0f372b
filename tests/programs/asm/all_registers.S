/* Code in which every register holds a value that is needed later: added code has to save
   registers; and local calls with contracts of their own.

   Each procedure all_NAME(seeds, results) loads all registers but the stack pointer from `seeds`
   (32 integers, then 32 floating-point numbers), computes, and stores them all to `results`. In
   between gp, ra, pv and at are data like the others.

   With WINDOWS_NT the code has the form of Windows NT: addresses by two halves, entries of .pdata
   for procedures with a frame, and no functions of Linux's PALcode. It computes the same. */

        .set    noat
        .set    noreorder
        .set    nomacro
        .arch   ev56

#define LINK_AREA 0         /* of the frame: ra, s0-s6, f2-f9 */
#define GP 136
#define RESULTS 144
#define SCRATCH 152         /* two words */
#define ALL 168             /* 32 integers, 32 floating-point numbers */
#define FRAME 688

        .macro  each_integer what
        .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,17,18,19,20,21,22,23,24,25,26,27,28,29
        \what   \r
        .endr
        .endm

        .macro  each_floating what
        .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
        \what   \r
        .endr
        .endm

        .macro  load_integer r
        ldq     $\r, 8*\r($16)
        .endm
        .macro  load_floating r
        ldt     $f\r, 256+8*\r($16)
        .endm
        .macro  keep_integer r
        stq     $\r, ALL+8*\r($30)
        .endm
        .macro  keep_floating r
        stt     $f\r, ALL+256+8*\r($30)
        .endm

        .macro  clear_integer r          /* unless calls preserve it */
        .if     (\r < 9) || (\r > 15)
        mov     $31, $\r
        .endif
        .endm
        .macro  clear_floating r
        .if     (\r < 2) || (\r > 9)
        cpys    $f31, $f31, $f\r
        .endif
        .endm

        .macro  save_integers what, cfi
        place = 8
        .irp    r, 9,10,11,12,13,14,15
        \what   $\r, place($30)
        .if     \cfi
        .cfi_rel_offset \r, place
        .endif
        place = place+8
        .endr
        .endm
        .macro  save_floatings what, cfi
        place = 64
        .irp    r, 2,3,4,5,6,7,8,9
        \what   $f\r, place($30)
        .if     \cfi
        .cfi_rel_offset \r+32, place
        .endif
        place = place+8
        .endr
        .endm

#ifdef WINDOWS_NT
        .macro  load_gp
        .prologue 0
        .endm
        .macro  restore_gp              /* no code needs it */
        .endm
        .macro  load_address r, symbol
        ldah    $\r, \symbol($31)       !gprelhigh
        lda     $\r, \symbol($\r)       !gprellow
        .endm
        .macro  end_prolog name
.Lprolog_end_\name:
        .endm
        .macro  describe name
.Lend_\name:
        .section .pdata, "a", @progbits
        .align  2
        .long   \name, .Lend_\name, 0, 0, .Lprolog_end_\name
        .text
        .endm
#else
        .macro  load_gp
        .set    macro
        ldgp    $29, 0($27)
        .set    nomacro
        .prologue 1
        .endm
        .macro  restore_gp
        ldq     $29, GP($30)
        .endm
        .macro  load_address r, symbol
        ldq     $\r, \symbol($29)       !literal
        .endm
        .macro  end_prolog name
        .endm
        .macro  describe name
        .endm
#endif

        .macro  enter name
        .text
        .align  4
        .globl  \name
        .ent    \name
\name:
        .cfi_startproc
        load_gp
        lda     $30, -FRAME($30)
        .cfi_def_cfa_offset FRAME
        stq     $26, LINK_AREA($30)
        .cfi_rel_offset 26, LINK_AREA
        save_integers stq, 1
        save_floatings stt, 1
        end_prolog \name
        stq     $29, GP($30)
        stq     $17, RESULTS($30)
        each_floating load_floating
        each_integer load_integer
        ldq     $16, 8*16($16)
        .endm

        .macro  leave name
        each_floating keep_floating
        each_integer keep_integer
        stq     $16, ALL+8*16($30)
        ldq     $16, RESULTS($30)
        lda     $17, ALL($30)
        lda     $18, 64($31)
1:      ldq     $19, 0($17)             /* places 30, 31 and 63 hold nothing */
        stq     $19, 0($16)
        lda     $17, 8($17)
        lda     $16, 8($16)
        subq    $18, 1, $18
        bne     $18, 1b
        ldq     $29, GP($30)
        save_floatings ldt, 0
        save_integers ldq, 0
        ldq     $26, LINK_AREA($30)
        lda     $30, FRAME($30)
        .cfi_remember_state
        .cfi_def_cfa_offset 0
        ret     $31, ($26), 1
        .cfi_restore_state
        .cfi_endproc
        .end    \name
        describe \name
        .endm

/* $a = $a OP $b for neighbours from `first` to `last`: reads all these registers. */
        .macro  pair op, a, b
        \op     $\a, $\b, $\a
        .endm
        .macro  fold op, first, last
        .altmacro
        number = \first
        .rept   \last-\first
        pair    \op, %number, %(number+1)
        number = number+1
        .endr
        pair    \op, %(\last), %(\first)
        .noaltmacro
        .endm
        .macro  floating_pair op, a, b
        \op     $f\a, $f\b, $f\a
        .endm
        .macro  floating_fold op, first, last
        .altmacro
        number = \first
        .rept   \last-\first
        floating_pair \op, %number, %(number+1)
        number = number+1
        .endr
        .noaltmacro
        .endm

/* Nested loops with data-dependent branches, short blocks and an edge from a branch straight to a
   loop's head. */
        enter   all_loops
        lda     $0, 25($31)
2:      lda     $1, 9($31)
3:      addq    $2, $3, $2
        blbc    $2, 4f
        xor     $4, $5, $4
        blt     $4, 5f
4:      subq    $6, $7, $6
        cmpult  $6, $8, $8
        addq    $8, $9, $8
        bge     $6, 6f
        fold    addq, 9, 15
        br      $31, 6f
5:      fold    xor, 16, 22
        blbs    $20, 7f
6:      addq    $23, $24, $23
        subq    $25, $26, $25
        blbs    $23, 8f
        eqv     $24, $27, $24
8:      addq    $27, $28, $27
        addq    $28, $29, $28
        xor     $29, $2, $29
7:      addq    $26, $29, $26
        addq    $3, $1, $3
        subq    $1, 1, $1
        bne     $1, 3b
        fold    addq, 2, 29
        subq    $0, 1, $0
        bgt     $0, 2b
        leave   all_loops

/* An interpreter: labels in data, jumps through a register that is free only between its use and the
   next dispatch. */
        .macro  dispatch
        subq    $0, 1, $0
        beq     $0, 9f
        and     $3, 7, $27
        s8addq  $27, $28, $27
        ldq     $27, 0($27)
        jmp     $31, ($27)
        .endm
        enter   all_gotos
        restore_gp
        load_address 28, goto_labels
        ldq     $29, 8*29($30)          /* any number */
        lda     $0, 400($31)
        addq    $3, $4, $3
        dispatch
.Lgoto0: addq   $3, $5, $3
        fold    addq, 1, 12
        dispatch
.Lgoto1: srl    $3, 1, $3
        xor     $3, $6, $3
        dispatch
.Lgoto2: addq   $6, $7, $6
        blbc    $6, .Lgoto3
        subq    $3, $8, $3
        dispatch
.Lgoto3: subq   $3, $9, $3
        fold    xor, 12, 26
        dispatch
.Lgoto4: s4addq $3, $10, $3
        addq    $10, $11, $10
        blt     $10, .Lgoto4
        dispatch
.Lgoto5: eqv    $3, $12, $3
        dispatch
.Lgoto6: addq   $3, $13, $3
        fold    subq, 8, 20
        dispatch
.Lgoto7: addq   $3, $14, $3
        addq    $26, $29, $26
        addq    $29, $25, $29
        dispatch
9:      mov     $31, $28                /* an address */
        mov     $31, $27
        leave   all_gotos
        .section .data.rel.ro.local, "aw"
        .align  3
goto_labels:
        .quad   .Lgoto0, .Lgoto1, .Lgoto2, .Lgoto3, .Lgoto4, .Lgoto5, .Lgoto6, .Lgoto7

/* The interpreter with a table as compilers make it, which keeps gp but needs two registers. */
        enter   all_switch
        restore_gp
        lda     $0, 300($31)
2:      addq    $3, $4, $3
        fold    addq, 16, 26
        and     $3, 7, $27
        cmpule  $27, 4, $28
        beq     $28, .Lcase5
#ifdef WINDOWS_NT
        load_address 28, switch_table
        s4addq  $27, $28, $27
        ldl     $27, 0($27)
#else
        ldah    $28, switch_table($29)  !gprelhigh
        lda     $28, switch_table($28)  !gprellow
        s4addq  $27, $28, $27
        ldl     $27, 0($27)
        addq    $27, $29, $27
#endif
        jmp     $31, ($27)
.Lcase0: fold   addq, 1, 8
        br      $31, 3f
.Lcase1: xor    $4, $26, $4
.Lcase2: addq   $5, $25, $5             /* control also falls in from above */
        br      $31, 3f
.Lcase3: blbs   $4, .Lcase4
        subq    $6, $24, $6
        br      $31, 3f
.Lcase4: fold   xor, 8, 15
        br      $31, 3f
.Lcase5: addq   $7, $3, $7
3:      srl     $3, 3, $3
        xor     $3, $23, $3
        subq    $0, 1, $0
        bne     $0, 2b
        mov     $31, $27
        mov     $31, $28
        mov     $31, $29
        leave   all_switch
        .section .rodata
        .align  2
switch_table:
#ifdef WINDOWS_NT
        .long   .Lcase0, .Lcase1, .Lcase2, .Lcase3, .Lcase4
#else
        .gprel32 .Lcase0
        .gprel32 .Lcase1
        .gprel32 .Lcase2
        .gprel32 .Lcase3
        .gprel32 .Lcase4
#endif

/* Local calls that change nothing but the registers in the comment of each procedure. */
        enter   all_calls
        lda     $0, 40($31)
2:      bsr     $28, add_temporaries
        addq    $26, $25, $26           /* ra is data here */
        bsr     $23, divide_by_shifting
        addq    $22, $24, $22
        bsr     $27, sum_to_s6
        addq    $29, $15, $29
        blbc    $29, 3f
        stq     $26, SCRATCH($30)
        bsr     $26, two_results
        addq    $24, $25, $24
        bsr     $26, outer
        and     $20, 7, $21
        bsr     $26, count_down
        ldq     $26, SCRATCH($30)
3:      fold    addq, 1, 14
        subq    $0, 1, $0
        bne     $0, 2b
        mov     $31, $28                /* return addresses */
        mov     $31, $27
        mov     $31, $23
        leave   all_calls

        .macro  local_procedure name
        .text
        .align  4
        .ent    \name
\name:
        .frame  $30, 0, $26, 0
        .prologue 0
        .endm

/* t0 to t7: each adds its neighbour. Link: at. */
        local_procedure add_temporaries
        blbc    $1, 1f
        fold    addq, 1, 8
        ret     $31, ($28), 1
1:      fold    xor, 1, 8
        ret     $31, ($28), 1
        .end    add_temporaries

/* t8 = (t10 >> 3) / 5 for small numbers; t10 and t11 are lost. Link: t9, as of division routines. */
        local_procedure divide_by_shifting
        and     $24, 255, $24
        mov     $31, $22
1:      subq    $24, 5, $25
        blt     $25, 2f
        mov     $25, $24
        addq    $22, 1, $22
        br      $31, 1b
2:      ret     $31, ($23), 1
        .end    divide_by_shifting

/* s6 += s0 ... s5. Link: pv. */
        local_procedure sum_to_s6
        addq    $15, $9, $15
        addq    $15, $10, $15
        blt     $15, 1f
        addq    $15, $11, $15
        addq    $15, $12, $15
1:      addq    $15, $13, $15
        addq    $15, $14, $15
        ret     $31, ($27), 1
        .end    sum_to_s6

/* t10, t11 = t0 + t1, t0 - t1. Link: ra. Keeps all others. */
        local_procedure two_results
        addq    $1, $2, $24
        blbs    $24, 1f
        subq    $1, $2, $25
        ret     $31, ($26), 1
1:      subq    $2, $1, $25
        ret     $31, ($26), 1
        .end    two_results

/* Adds t0 and t1 to a0 and keeps all others: in its own frame, or since inner keeps them. */
        local_procedure outer
        lda     $30, -32($30)
        stq     $26, 0($30)
        end_prolog outer
        stq     $1, 8($30)
        stq     $2, 16($30)
        bsr     $28, inner
        addq    $16, $1, $16
        blbs    $16, 1f
        bsr     $28, inner
1:      addq    $16, $2, $16
        ldq     $2, 16($30)
        ldq     $1, 8($30)
        ldq     $26, 0($30)
        lda     $30, 32($30)
        ret     $31, ($26), 1
        .end    outer
        describe outer
/* t0, t1 change places. Link: at. Changes ra. */
        local_procedure inner
        mov     $1, $26
        mov     $2, $1
        mov     $26, $2
        ret     $31, ($28), 1
        .end    inner

/* a5 times: a4 += a3; recursive. Keeps all others but a5. */
        local_procedure count_down
#ifndef WINDOWS_NT                      /* whose prologs are at the beginning */
        beq     $21, 1f
#endif
        lda     $30, -16($30)
        stq     $26, 0($30)
        end_prolog count_down
#ifdef WINDOWS_NT
        beq     $21, 1f
#endif
        subq    $21, 1, $21
        addq    $20, $19, $20
        bsr     $26, count_down
        ldq     $26, 0($30)
#ifdef WINDOWS_NT
1:
#endif
        lda     $30, 16($30)
#ifndef WINDOWS_NT
1:
#endif
        ret     $31, ($26), 1
        .end    count_down
        describe count_down

/* Calls by the standard through pointers, of procedures that take and give more than the standard
   says: t7 in, t8 and t9 out. A procedure must not read its results t8 and t9 any more: registers
   that it reads count as temporaries, unless its callers are known. */
        enter   all_pointers
        lda     $0, 12($31)
        stq     $0, SCRATCH($30)
2:      restore_gp
        load_address 1, pointers
        and     $9, 1, $2
        s8addq  $2, $1, $1
        ldq     $27, 0($1)
        mov     $10, $8
        jsr     $26, ($27)
        addq    $9, $22, $9
        xor     $10, $23, $10
        addq    $11, $0, $11
        fold    addq, 9, 15
        ldq     $0, SCRATCH($30)
        subq    $0, 1, $0
        stq     $0, SCRATCH($30)
        bne     $0, 2b
        each_integer clear_integer
        each_floating clear_floating
        mov     $31, $16
        leave   all_pointers
        .data
        .align  3
pointers: .quad first_pointer, second_pointer

        local_procedure first_pointer
        addq    $8, $8, $22
        srl     $8, 7, $23
        blbs    $8, 1f
        addq    $23, 3, $23
1:      mov     4, $0
        ret     $31, ($26), 1
        .end    first_pointer
        local_procedure second_pointer
        mov     $8, $24
        mov     $31, $25
1:      addq    $25, $24, $25
        srl     $24, 9, $24
        bne     $24, 1b
        subq    $8, $25, $22
        mov     $25, $23
        mov     5, $0
        ret     $31, ($26), 1
        .end    second_pointer

/* Floating-point registers over branches that test them. f30 is 0.5: no result overflows. */
        enter   all_floats
        lda     $0, 60($31)
2:      subt    $f0, $f1, $f0
        fblt    $f0, 3f
        floating_fold addt, 1, 15
        fbne    $f3, 4f
3:      floating_fold subt, 10, 29
        cmptlt  $f4, $f9, $f5
        fbeq    $f5, 4f
        fcmovgt $f6, $f7, $f8
4:      .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29
        mult    $f\r, $f30, $f\r
        .endr
        addq    $1, $0, $1
        subq    $0, 1, $0
        bne     $0, 2b
        fold    addq, 1, 29
        leave   all_floats

/* The control register's rounding mode (bits 59 and 58) is also a register. */
        enter   all_roundings
        excb
        mf_fpcr $f1
        excb
        stt     $f1, SCRATCH+8($30)
        lda     $0, 16($31)
2:      and     $0, 3, $28
        sll     $28, 58, $28
        ldq     $27, SCRATCH+8($30)
        zapnot  $27, 0x7f, $26          /* the mode is in the top byte, as are traps: drop them */
        bis     $28, $26, $28
        blbs    $0, 3f
        addq    $2, $3, $2
3:      stq     $28, SCRATCH($30)
        ldt     $f2, SCRATCH($30)
        excb
        mt_fpcr $f2
        excb
        divt/d  $f3, $f4, $f3
        blbc    $2, 4f
        addt/d  $f5, $f3, $f5
4:      subt    $f6, $f3, $f6
        fold    addq, 1, 25
        subq    $0, 1, $0
        bne     $0, 2b
        ldt     $f1, SCRATCH+8($30)
        excb
        mt_fpcr $f1
        excb
        cpys    $f31, $f31, $f1
        cpys    $f31, $f31, $f2
        mov     $31, $26
        mov     $31, $27
        leave   all_roundings

/* Locked sequences, traps with software completion and PALcode: places where no code may be added,
   among code where no register is free. */
        enter   all_untouchable
        lda     $0, 30($31)
2:      lda     $28, SCRATCH($30)
        stq     $0, SCRATCH($30)
3:      ldq_l   $27, 0($28)
        addq    $27, $3, $27
        blbs    $4, 4f                  /* gives the lock up */
        stq_c   $27, 0($28)
        beq     $27, 5f
4:      mb
        ldq     $28, SCRATCH($30)
        addq    $4, $28, $4
        mult/su $f3, $f30, $f4
        addt/su $f4, $f5, $f4
        trapb
        fblt    $f4, 6f
        mult/su $f5, $f30, $f5
        trapb
6:      mov     $0, $27
#ifdef WINDOWS_NT
        call_pal 0xab                   /* rdteb: v0 = block of the thread */
#else
        call_pal 0x9e                   /* rduniq: v0 = thread pointer */
        mov     $16, $28
        mov     $0, $16
        call_pal 0x9f                   /* wruniq: thread pointer = a0 */
        mov     $28, $16
        lda     $0, 20($31)             /* getxpid: v0, a3 and a4 change */
        call_pal 0x83
#endif
        mov     $27, $0
        lda     $19, 7($16)
        lda     $20, 9($16)
        fold    addq, 1, 26
        subq    $0, 1, $0
        bne     $0, 2b
        mov     $31, $27
        mov     $31, $28
        leave   all_untouchable
5:      br      $31, 3b

        .section .note.GNU-stack, "", @progbits
