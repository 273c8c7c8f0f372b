// Where the start code is entered, at its first byte, and where the parameters are: after its last.
//
// The same entry serves as the entry point of an executable and as DT_INIT of a library, a call with
// arguments in r32 to r39, a return address in b0 and ar.pfs. The frame grows by local registers that
// keep all scratch registers meanwhile, NaT bits included; it stays that large, which neither an
// entry nor an initializer can see. b6 holds the address of the code that continues, as after any call
// through a pointer; where no code continues, the entry returns. Floating-point registers f6, f7 and f32
// change: they are scratch at a call (Itanium Software Conventions and Runtime Architecture Guide, 5.2).
//
// The C code has no data and calls nothing, so it needs no gp.

        .explicit

        // The linker script puts this first ...
        .section .text.first,"ax",@progbits
        .global respike_entry
respike_entry:
{ .mib; nop.m 0; nop.i 0; br.cond.sptk.few save ;; }

        // ... and this last, since the distance to the parameters has to be known here.
        .section .text.last,"ax",@progbits

        .macro  restore
{ .mmi; mov r1 = r45; mov r2 = r46; mov b0 = r41 }
{ .mmi; mov r3 = r47; mov r8 = r48; mov b7 = r44 }
{ .mmi; mov r9 = r49; mov r10 = r50; mov r11 = r51 }
{ .mmi; mov r14 = r52; mov r15 = r53; mov r16 = r54 }
{ .mmi; mov r17 = r55; mov r18 = r56; mov r19 = r57 }
{ .mmi; mov r20 = r58; mov r21 = r59; mov r22 = r60 }
{ .mmi; mov r23 = r61; mov r24 = r62; mov r25 = r63 }
{ .mmi; mov r26 = r64; mov r27 = r65; mov r28 = r66 }
{ .mmi; mov r29 = r67; mov r30 = r68; mov r31 = r69 }
{ .mii; nop.m 0; mov pr = r42, -2; mov.i ar.pfs = r40 ;; }
        .endm

save:
{ .mmi; alloc r40 = ar.pfs, 8, 30, 1, 0; mov r45 = r1; mov r41 = b0 }
{ .mmi; mov r46 = r2; mov r47 = r3; mov r42 = pr }
{ .mmi; mov r48 = r8; mov r49 = r9; mov r43 = b6 }
{ .mmi; mov r50 = r10; mov r51 = r11; mov r44 = b7 }
{ .mmi; mov r52 = r14; mov r53 = r15; mov r54 = r16 }
{ .mmi; mov r55 = r17; mov r56 = r18; mov r57 = r19 }
{ .mmi; mov r58 = r20; mov r59 = r21; mov r60 = r22 }
{ .mmi; mov r61 = r23; mov r62 = r24; mov r63 = r25 }
{ .mmi; mov r64 = r26; mov r65 = r27; mov r66 = r28 }
{ .mmi; mov r67 = r29; mov r68 = r30; mov r69 = r31 }
here:
{ .mii; nop.m 0; mov r70 = ip; nop.i 0 ;; }
{ .mib; adds r70 = parameters - here, r70; nop.i 0; br.call.sptk.many b0 = respike_start ;; }
{ .mib; cmp.eq p6, p0 = 0, r8; mov b6 = r8; (p6) br.cond.spnt.few none ;; }
        restore
{ .mib; nop.m 0; nop.i 0; br.cond.sptk.few b6 ;; }
none:
{ .mii; nop.m 0; mov b6 = r43; nop.i 0 }
        restore
{ .mib; nop.m 0; nop.i 0; br.ret.sptk.many b0 ;; }
        .balign 16
parameters:
