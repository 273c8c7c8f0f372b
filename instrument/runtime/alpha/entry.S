/* Where the start code is entered, at its first byte, and where the parameters are: after its last.

   The same entry serves as the entry point of an executable, where the only certain registers are
   sp and v0 (the dynamic linker's finalizer), and as DT_INIT of a library, a call with arguments
   and a return address. All registers are kept except pv, which holds the address of the code that
   continues, as after any jump through pv; where no code continues, the entry returns.

   The C code saves s0 to s6 where it uses them, never touches gp and floating-point registers, and
   needs no pv. */

#include "instrument/runtime/alpha_frame.h"

#define SAVED 0,1,2,3,4,5,6,7,8,16,17,18,19,20,21,22,23,24,25,26,28

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
        in_frame stq, SAVED
        br      $16,here
here:   lda     $16,parameters-here($16)
        bsr     $26,respike_start
        bis     $31,$0,$27
        in_frame ldq, SAVED
        lda     $30,176($30)
        beq     $27,return
        jmp     $31,($27),0
return: ret     $31,($26),1
        .balign 16
parameters:

        .section .note.GNU-stack,"",@progbits
