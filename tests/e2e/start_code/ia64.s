// A program for IA-64 that enters its start code with known values in all registers that it must
// keep: as an entry point, which continues at `checked`, or, with CALL, as an initializer that returns
// there. Its exit status is the number of changed registers. Before, it counts 7 in the second counter,
// after, 5 in the first counter.
//
// Symbols for the assembler: CALL (0 or 1), COUNTERS_SIZE. start.bin is the start code.

        .explicit
        .section .respike.start,"ax",@progbits
        .balign 16
start_code:
        .incbin "start.bin"
parameters:
        data8   counters - .
        .if     CALL
        data8   0
        .else
        data8   checked - . + 8
        .endif
        data8   COUNTERS_SIZE
        data4   0, 0
        .ascii  "@PREFIX@"              // found and replaced in the linked file
        .zero   4096 - 8
        .asciz  "RSPKCNT"
        data4   1, 65536
        data8   COUNTERS_SIZE
        .byte   1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
        data8   0, 0, 0
        data4   1, 0
path:   .asciz  "/original/image"
        .zero   4096 - (. - path)

        .bss
        .balign 65536
counters:
        .zero   COUNTERS_SIZE

        .text
        .macro  count counter, number
{ .mlx; nop.m 0; movl r2 = counters + 8 * \counter ;; }
{ .mmi; ld8 r3 = [r2] ;; adds r3 = \number, r3 ; nop.i 0 ;; }
{ .mmi; st8 [r2] = r3; nop.m 0; nop.i 0 ;; }
        .endm

        .macro  expect register, value
{ .mlx; nop.m 0; movl r36 = \value ;; }
{ .mmi; cmp.ne p6, p0 = r36, \register ;; (p6) adds r35 = 1, r35; nop.i 0 ;; }
        .endm

        .global program
program:
        count   1, 7
        .irp    b,1,2,3,4,5,7
{ .mlx; nop.m 0; movl r2 = 0xb000 + \b ;; }
{ .mii; nop.m 0; mov b\b = r2; nop.i 0 ;; }
        .endr
{ .mlx; nop.m 0; movl r2 = 0x0123456789abcdee ;; }
{ .mii; nop.m 0; mov pr = r2, -2; adds r2 = 5, r0 ;; }
{ .mii; mov.m ar.ccv = r2; mov.i ar.pfs = r2; nop.i 0 ;; }
{ .mii; mov.m ar.unat = r2; mov.i ar.lc = r2; nop.i 0 ;; }
        .irp    r,1,2,3,4,5,6,7,8,9,10,11,14,15,16,17,18,19,21,22,23,24,25,26,27,28,29,30,31
{ .mlx; nop.m 0; movl r\r = 0x123456789000 + \r ;; }
        .endr
{ .mmi; ld8.s r20 = [r0]; nop.m 0; nop.i 0 ;; }
        .if     CALL
{ .mib; nop.m 0; nop.i 0; br.call.sptk.few b0 = start_code ;; }
        .else
{ .mib; nop.m 0; nop.i 0; br.cond.sptk.few start_code ;; }
        .endif

checked:
{ .mii; alloc r33 = ar.pfs, 0, 8, 1, 0; mov r34 = pr; mov r35 = r0 ;; }
        .irp    r,1,2,3,4,5,6,7,8,9,10,11,14,15,16,17,18,19,21,22,23,24,25,26,27,28,29,30,31
        expect  r\r, 0x123456789000 + \r
        .endr
{ .mii; nop.m 0; tnat.z p6, p0 = r20; nop.i 0 ;; }
{ .mmi; (p6) adds r35 = 1, r35 ;; nop.m 0; nop.i 0 ;; }
        expect  r34, 0x0123456789abcdef    // p0 is always 1
        .if     CALL == 0               // a call puts its own frame there
{ .mii; nop.m 0; extr.u r33 = r33, 0, 62; nop.i 0 ;; }           // without the privilege level
        expect  r33, 5
        .endif
        .irp    b,1,2,3,4,5,7
{ .mii; nop.m 0; mov r2 = b\b; nop.i 0 ;; }
        expect  r2, 0xb000 + \b
        .endr
        .irp    a,ar.ccv,ar.unat
{ .mmi; mov.m r2 = \a; nop.m 0; nop.i 0 ;; }
        expect  r2, 5
        .endr
{ .mii; nop.m 0; mov.i r2 = ar.lc; nop.i 0 ;; }
        expect  r2, 5
        count   0, 5
{ .mmi; mov r40 = r35; addl r15 = 1025, r0; nop.i 0 ;; }        // exit
{ .mii; break.m 0x100000; nop.i 0; nop.i 0 ;; }
