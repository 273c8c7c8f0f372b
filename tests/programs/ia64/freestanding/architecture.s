// What compilers rarely use: rotation, speculation, NaT bits, the register stack in memory, semaphores, odd predicates.
// Every check returns its number when it fails. Written by hand.
	.text
	.macro check number		// p6 holds if all is well
	cmp.ne p8, p9 = r0, r0 ;;
(p6)	cmp.eq p8, p9 = r0, r0 ;;
(p9)	mov r8 = \number
(p9)	br.cond.spnt .Lend ;;
	.endm

	.global program#
	.proc program#
program:
	.prologue
	alloc r34 = ar.pfs, 2, 6, 4, 0
	mov r35 = b0
	mov r36 = pr
	mov r37 = ar.lc
	;;
	br.call.sptk.many b0 = rotating# ;;
	cmp.eq p6, p7 = 0, r8 ;;
(p7)	br.cond.spnt .Lend
	br.call.sptk.many b0 = nats# ;;
	cmp.eq p6, p7 = 0, r8 ;;
(p7)	br.cond.spnt .Lend
	br.call.sptk.many b0 = stack# ;;
	cmp.eq p6, p7 = 0, r8 ;;
(p7)	br.cond.spnt .Lend

// Predicates: parallel compares, unconditional compares, all at once.
	mov r14 = 5
	mov r15 = -1
	cmp.eq p10, p11 = r0, r0 ;;
	cmp.eq.and p10, p11 = 6, r14 ;;		// false: both 0
(p10)	mov r8 = 40
(p10)	br.cond.spnt .Lend
(p11)	mov r8 = 41
(p11)	br.cond.spnt .Lend ;;
	cmp.lt.or p10, p11 = r0, r15 ;;		// 0 < -1: false, nothing happens
(p10)	mov r8 = 42
(p10)	br.cond.spnt .Lend ;;
	cmp.gt.or.andcm p10, p11 = r0, r15 ;;	// 0 > -1: p10 = 1, p11 = 0
	cmp.ne p6, p7 = r0, r0 ;;
(p10)	cmp.eq p6, p7 = r0, r0 ;;
	check 43
(p7)	cmp.eq.unc p10, p12 = r0, r0 ;;		// p7 is 0: both are cleared
(p10)	mov r8 = 44
(p10)	br.cond.spnt .Lend
(p12)	mov r8 = 45
(p12)	br.cond.spnt .Lend ;;
	cmp4.ltu p6, p7 = 5, r15 ;;
	check 46
	tbit.nz p6, p7 = r15, 63 ;;
	check 47
	mov r16 = 0x2a4 ;;
	mov pr = r16, 0x3fe ;;
	mov r17 = pr ;;
	mov r18 = 0x3fe ;;
	and r17 = r18, r17
	mov r18 = 0x2a4 ;;
	cmp.eq p6, p7 = r18, r17 ;;
	check 48

// Semaphores and memory.
	add r20 = @ltoff(word#), gp ;;
	ld8 r20 = [r20] ;;
	mov r14 = 100 ;;
	st8.rel [r20] = r14 ;;
	fetchadd8.acq r15 = [r20], -4 ;;
	mov r16 = 100 ;;
	cmp.eq p6, p7 = r16, r15 ;;
	check 60
	mov ar.ccv = 96
	mov r17 = 7 ;;
	cmpxchg8.acq r15 = [r20], r17, ar.ccv ;;
	ld8.acq r18 = [r20] ;;
	cmp.eq p6, p7 = 7, r18 ;;
	check 61
	cmpxchg8.rel r15 = [r20], r0, ar.ccv ;;	// does not match
	ld8 r18 = [r20] ;;
	cmp.eq p6, p7 = 7, r18 ;;
	check 62
	mov r19 = -2 ;;
	xchg2 r15 = [r20], r19 ;;
	ld4 r18 = [r20]
	movl r21 = 0xfffe ;;
	cmp.eq p6, p7 = r21, r18 ;;
	check 63
	adds r22 = 3, r20			// not aligned
	movl r23 = 0x1122334455667788 ;;
	st8 [r22] = r23, 5 ;;
	adds r24 = -5, r22 ;;
	ld8 r25 = [r24], 8 ;;
	cmp.eq p6, p7 = r25, r23 ;;
	check 64
	ld2 r25 = [r24], -8 ;;
	adds r26 = 3, r20 ;;
	cmp.eq p6, p7 = r26, r24 ;;
	check 65

// Advanced loads.
	st8 [r20] = r14 ;;
	ld8.a r27 = [r20] ;;
	chk.a.nc r27, .Lrecover1 ;;		// nothing was stored
	cmp.eq p6, p7 = r27, r14 ;;
	check 70
	st8 [r20] = r17 ;;
	ld8.c.clr r27 = [r20] ;;
	cmp.eq p6, p7 = 7, r27 ;;
	check 71
	ld8.a r28 = [r20] ;;
	adds r29 = 1, r28
	st8 [r20] = r14 ;;
	chk.a.clr r28, .Lrecover2 ;;
.Lback2:
	mov r30 = 101 ;;
	cmp.eq p6, p7 = r30, r29 ;;
	check 72
	// The same number in another frame is another register.
	ld8.a r38 = [r20]
	mov r39 = r20 ;;
	br.call.sptk.many b0 = advance# ;;
	mov r30 = 55 ;;
	st8 [r39] = r30 ;;
	chk.a.clr r38, .Lgood74 ;;
	mov r8 = 74
	br.cond.sptk .Lend ;;
.Lgood74:
	mov r20 = r39 ;;
	invala ;;
	ldfd.a f32 = [r20] ;;
	chk.a.clr f32, .Lbad73 ;;
	chk.a.clr f32, .Lgood73 ;;
.Lbad73:
	mov r8 = 73
	br.cond.sptk .Lend ;;
.Lgood73:

// Parallel and unusual integer instructions.
	movl r14 = 0x01ff807f00fe0203
	movl r15 = 0x0101010101010101 ;;
	padd1 r16 = r14, r15
	movl r17 = 0x0200818001ff0304 ;;
	cmp.eq p6, p7 = r16, r17 ;;
	check 80
	padd1.uuu r16 = r14, r15
	movl r17 = 0x02ff818001ff0304 ;;
	cmp.eq p6, p7 = r16, r17 ;;
	check 81
	mux1 r16 = r14, @rev
	movl r17 = 0x0302fe007f80ff01 ;;
	cmp.eq p6, p7 = r16, r17 ;;
	check 82
	shrp r16 = r14, r15, 12
	movl r17 = 0x2030101010101010 ;;
	cmp.eq p6, p7 = r16, r17 ;;
	check 83
	czx1.r r16 = r14 ;;
	cmp.eq p6, p7 = 3, r16 ;;
	check 84
	dep r16 = -1, r15, 8, 12
	movl r17 = 0x01010101010fff01 ;;
	cmp.eq p6, p7 = r16, r17 ;;
	check 85

// Branch registers, ip, and a long branch.
	mov r14 = ip ;;
	mov b6 = r14 ;;
	mov r15 = b6 ;;
	cmp.eq p6, p7 = r14, r15 ;;
	check 90
	brl.sptk .Lfar ;;
	mov r8 = 91
	br.cond.sptk .Lend ;;
.Lfar:
	mov r8 = 0 ;;
.Lend:
	mov ar.pfs = r34
	mov b0 = r35
	mov pr = r36, -2
	mov.i ar.lc = r37
	;;
	br.ret.sptk.many b0 ;;
.Lrecover1:
	mov r8 = 69
	br.cond.sptk .Lend ;;
.Lrecover2:
	ld8 r28 = [r20] ;;
	adds r29 = 1, r28
	br.cond.sptk .Lback2 ;;
	.endp program#

// A software pipeline of three stages adds 3 to 40 numbers.
	.proc rotating#
rotating:
	.prologue
	alloc r56 = ar.pfs, 0, 26, 0, 16
	mov r57 = pr
	mov r48 = ar.lc
	add r49 = @ltoff(source#), gp
	add r50 = @ltoff(target#), gp ;;
	ld8 r49 = [r49]
	ld8 r50 = [r50]
	mov r51 = r0 ;;
	mov r52 = r49
	mov r53 = 40 ;;
.Lfill:	st8 [r52] = r51, 8
	adds r51 = 7, r51
	adds r53 = -1, r53 ;;
	cmp.ne p6, p7 = 0, r53
(p6)	br.cond.sptk .Lfill ;;
	mov r52 = r50
	mov ar.lc = 39
	mov ar.ec = 3
	mov pr.rot = 1 << 16 ;;
.Lpipe:
(p16)	ld8 r32 = [r49], 8
(p17)	adds r34 = 3, r33
(p18)	st8 [r52] = r35, 8
	br.ctop.sptk .Lpipe ;;
	mov r8 = 1
	mov r54 = ar.ec ;;
	cmp.ne p6, p7 = 0, r54
(p6)	br.cond.spnt .Lout
	mov r8 = 2
	mov r53 = 40
	mov r51 = 3 ;;
.Lread:	ld8 r54 = [r50], 8
	adds r53 = -1, r53 ;;
	cmp.ne p6, p7 = r51, r54
	adds r51 = 7, r51
(p6)	br.cond.spnt .Lout ;;
	cmp.ne p6, p7 = 0, r53
(p6)	br.cond.sptk .Lread ;;
	// A while loop that rotates floating-point registers as well.
	clrrrb ;;
	mov r8 = 3
	mov r53 = 5
	mov ar.ec = 1
	setf.sig f32 = r53
	mov pr.rot = 1 << 16 ;;
.Lwhile:
	adds r53 = -1, r53 ;;
	cmp.ne p17, p0 = 0, r53
	mov r54 = r53 ;;
	setf.sig f40 = r54
(p17)	br.wtop.sptk .Lwhile ;;
	// f40 of the last round but one has moved on by one for each rotation.
	getf.sig r54 = f42 ;;
	cmp.ne p6, p7 = 1, r54
(p6)	br.cond.spnt .Lout
	mov r8 = 0 ;;
.Lout:
	clrrrb ;;
	mov pr = r57, -2
	mov ar.lc = r48
	mov ar.pfs = r56 ;;
	br.ret.sptk.many b0 ;;
	.endp rotating#

// Speculation that fails, and where its NaT goes.
	.proc nats#
nats:
	alloc r34 = ar.pfs, 0, 8, 0, 0
	mov r35 = ar.unat
	mov r14 = 8 ;;
	ld8.s r15 = [r14] ;;			// nothing is mapped there
	tnat.nz p6, p7 = r15
	mov r8 = 20
(p7)	br.cond.spnt .Lnat_out
	adds r16 = 5, r15 ;;
	tnat.nz p6, p7 = r16
	mov r8 = 21
(p7)	br.cond.spnt .Lnat_out
	cmp.eq p6, p7 = r16, r0 ;;		// both are cleared
	mov r8 = 22
(p6)	br.cond.spnt .Lnat_out
(p7)	br.cond.spnt .Lnat_out
	chk.s r16, .Lnat_recover ;;
	mov r8 = 23
	br.cond.sptk .Lnat_out ;;
.Lnat_recover:
	add r20 = @ltoff(source#), gp ;;
	ld8 r20 = [r20] ;;
	adds r21 = 8, r20
	mov r22 = 77 ;;
	st8.spill [r20] = r16
	st8.spill [r21] = r22 ;;
	mov r23 = ar.unat
	mov r16 = 1 ;;
	ld8.fill r16 = [r20]
	ld8.fill r22 = [r21] ;;
	tnat.nz p6, p7 = r16
	mov r8 = 24
(p7)	br.cond.spnt .Lnat_out
	tnat.z p6, p7 = r22
	mov r8 = 25
(p7)	br.cond.spnt .Lnat_out
	mov r8 = 26
	mov r24 = 77 ;;
	cmp.eq p6, p7 = r24, r22
(p7)	br.cond.spnt .Lnat_out
	setf.sig f33 = r16 ;;
	fclass.m p6, p7 = f33, @nat
	mov r8 = 27
(p7)	br.cond.spnt .Lnat_out
	getf.sig r25 = f33 ;;
	tnat.nz p6, p7 = r25
	mov r8 = 28
(p7)	br.cond.spnt .Lnat_out
	ldfd.s f34 = [r14] ;;
	chk.s f34, .Lnat_float ;;
	mov r8 = 29
	br.cond.sptk .Lnat_out ;;
.Lnat_float:
	mov r36 = r16				// a stacked register keeps its NaT over a call
	mov r37 = b0 ;;
	br.call.sptk.many b0 = flush# ;;
	mov b0 = r37
	tnat.nz p6, p7 = r36
	mov r8 = 30
(p7)	br.cond.spnt .Lnat_out
	mov r36 = 0
	mov r15 = 0
	mov r16 = 0
	mov r25 = 0
	mov r8 = 0 ;;
.Lnat_out:
	mov ar.unat = r35
	mov ar.pfs = r34 ;;
	br.ret.sptk.many b0 ;;
	.endp nats#

	.proc advance#
advance:
	alloc r32 = ar.pfs, 0, 12, 0, 0
	add r14 = @ltoff(target#), gp ;;
	ld8 r14 = [r14] ;;
	ld8.a r38 = [r14] ;;
	mov ar.pfs = r32 ;;
	br.ret.sptk.many b0 ;;
	.endp advance#

	.proc flush#
flush:
	alloc r32 = ar.pfs, 0, 1, 0, 0 ;;
	flushrs ;;
	mov ar.pfs = r32 ;;
	br.ret.sptk.many b0 ;;
	.endp flush#

// The register stack as memory: the words stored by flushrs, and a register that is loaded again from a changed word.
	.proc stack#
stack:
	alloc r32 = ar.pfs, 0, 4, 0, 0
	mov r33 = b0 ;;
	movl r34 = 0x123456789abcdef
	mov r35 = 1 ;;
	br.call.sptk.many b0 = poke# ;;
	mov r8 = 50
	movl r14 = 0x123456789abcdf0 ;;
	cmp.eq p6, p7 = r34, r14
(p7)	br.cond.spnt .Lstack_out
	mov r8 = 51
	cmp.eq p6, p7 = 1, r35
(p7)	br.cond.spnt .Lstack_out
	mov r8 = 0 ;;
.Lstack_out:
	mov b0 = r33
	mov ar.pfs = r32 ;;
	br.ret.sptk.many b0 ;;
	.endp stack#

// Adds 1 to the word of the caller's r34, which is the second below bsp unless a collection is there.
	.proc poke#
poke:
	flushrs ;;
	mov r14 = ar.bsp ;;
	adds r15 = -16, r14 ;;
	// A collection among the two words moves it down by one.
	adds r16 = -8, r14 ;;
	extr.u r16 = r16, 3, 6
	extr.u r17 = r15, 3, 6
	mov r18 = 63 ;;
	cmp.eq p6, p7 = r16, r18
	cmp.eq p8, p9 = r17, r18 ;;
(p6)	adds r15 = -8, r15
(p8)	adds r15 = -8, r15 ;;
	ld8 r19 = [r15] ;;
	adds r19 = 1, r19 ;;
	st8 [r15] = r19 ;;
	mf ;;
	mov ar.rsc = 0 ;;
	loadrs ;;				// forgets the registers that the processor still had
	mov ar.rsc = 3 ;;
	br.ret.sptk.many b0 ;;
	.endp poke#

	.section .bss
	.align 16
	.global word#
word:	.skip 64
	.global source#
source:	.skip 512
	.global target#
target:	.skip 512
