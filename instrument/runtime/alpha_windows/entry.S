/* Where the start code is entered, at its first byte, and where the parameters are: after its last.

   The same entry serves as the entry point of a program and of a library (DllMain): a call by the
   calling standard, with up to six arguments and a return address. Arguments and return address are
   passed to the code that continues, whose address is in t12; where no code continues, the entry
   returns 1: a library without an entry of its own is loaded.

   Prologs are in one piece, since unwinders of Windows NT read them. */

#include "instrument/runtime/alpha_frame.h"

#define SAVED 26,16,17,18,19,20,21      /* ra and the arguments */

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
        .globl  respike_call_import
respike_call_import:
        lda     $30,-32($30)
        stq     $26,16($30)
        stq     $31,0($30)              /* the seventh argument */
        jsr     $26,($27),0
        ldq     $26,16($30)
        lda     $30,32($30)
        ret     $31,($26),1

save:   lda     $30,-64($30)
        in_frame stq, SAVED
        br      $16,here                /* a1 stays: the reason of a call of DllMain */
here:   lda     $16,parameters-here($16)
        bsr     $26,respike_start
        bis     $31,$0,$27
        in_frame ldq, SAVED
        beq     $27,return
        lda     $30,64($30)
        jmp     $31,($27),0
return: bis     $31,1,$0
        lda     $30,64($30)
        ret     $31,($26),1
        .balign 16
parameters:

        .section .note.GNU-stack,"",@progbits
