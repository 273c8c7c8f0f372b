/* Where the start code is entered, at its first byte, and where the parameters are: after its last.

   The same entry serves as the entry point of an executable, where the only certain registers are
   sp and v0 (the dynamic linker's finalizer), and as DT_INIT of a library, a call with arguments
   and a return address. All registers are kept but pv, which holds the address of the code that
   goes on, as after any jump through pv; where no code goes on, the entry returns.

   The C code saves s0 to s6 where it uses them, never touches gp and floating-point registers, and
   needs no pv. */

        .set    noat
        .set    noreorder
        .set    nomacro
        .arch   ev4

        /* The linker script puts this first ... */
        .section .text.first,"ax",@progbits
        .globl  respike_entry
respike_entry:
        br      $31,save

        /* ... and this last, since the distance to the parameters has to be known here. */
        .section .text.last,"ax",@progbits
save:   lda     $30,-176($30)
        stq     $0,0($30)
        stq     $1,8($30)
        stq     $2,16($30)
        stq     $3,24($30)
        stq     $4,32($30)
        stq     $5,40($30)
        stq     $6,48($30)
        stq     $7,56($30)
        stq     $8,64($30)
        stq     $16,72($30)
        stq     $17,80($30)
        stq     $18,88($30)
        stq     $19,96($30)
        stq     $20,104($30)
        stq     $21,112($30)
        stq     $22,120($30)
        stq     $23,128($30)
        stq     $24,136($30)
        stq     $25,144($30)
        stq     $26,152($30)
        stq     $28,160($30)
        br      $16,here
here:   lda     $16,parameters-here($16)
        bsr     $26,respike_start
        bis     $31,$0,$27
        ldq     $0,0($30)
        ldq     $1,8($30)
        ldq     $2,16($30)
        ldq     $3,24($30)
        ldq     $4,32($30)
        ldq     $5,40($30)
        ldq     $6,48($30)
        ldq     $7,56($30)
        ldq     $8,64($30)
        ldq     $16,72($30)
        ldq     $17,80($30)
        ldq     $18,88($30)
        ldq     $19,96($30)
        ldq     $20,104($30)
        ldq     $21,112($30)
        ldq     $22,120($30)
        ldq     $23,128($30)
        ldq     $24,136($30)
        ldq     $25,144($30)
        ldq     $26,152($30)
        ldq     $28,160($30)
        lda     $30,176($30)
        beq     $27,return
        jmp     $31,($27),0
return: ret     $31,($26),1
        .balign 16
parameters:

        .section .note.GNU-stack,"",@progbits
