// Compiled code whose gp register does not hold gp: closures that get something else in it, and a procedure that returns with
// something else in it. Written by hand; ends with status 1 if something was overwritten.
	.text
	.global program#
	.proc program#
program:
	alloc loc0 = ar.pfs, 0, 7, 1, 0
	mov loc1 = b0
	mov loc2 = gp
	mov loc3 = sp
	mov loc6 = ar.lc
	movl r14 = -200016
	;;
	add sp = sp, r14
	;;
	// A closure, as for a nested function: {entry, its gp}, {descriptor, frame of the outer function}.
	adds loc4 = 16, sp
	adds r18 = 32, sp
	adds r19 = 48, sp
	addl r16 = @ltoff(@fptr(enter_closure#)), gp
	addl r17 = @ltoff(@fptr(nested#)), gp
	;;
	ld8 r16 = [r16]
	ld8 r17 = [r17]
	mov r15 = loc4
	;;
	ld8 r16 = [r16]
	;;
	st8 [r15] = r16, 8
	;;
	st8 [r15] = r18, 8
	;;
	st8 [r15] = r17, 8
	;;
	st8 [r15] = r19
	st8 [r19] = r0
	adds r20 = 56, sp
	mov r21 = 24992			// words up to the old stack pointer, less 2
	;;
	mov ar.lc = r21
	;;
.Lclear:
	st8 [r20] = r0, 8
	br.cloop.sptk .Lclear
	;;
	mov loc5 = 100
	;;
.Lcall:
	ld8 r14 = [loc4]
	adds r15 = 8, loc4
	mov out0 = loc5
	;;
	ld8 gp = [r15]
	mov b6 = r14
	;;
	br.call.sptk.many b0 = b6
	;;
	mov gp = loc2
	mov out0 = loc5
	;;
	br.call.sptk.many b0 = spoil#
	;;
	mov gp = loc2
	adds loc5 = -1, loc5
	;;
	cmp.ne p6, p7 = 0, loc5
	(p6) br.cond.sptk .Lcall
	;;
	adds r20 = 56, sp
	mov r21 = 24992
	mov r22 = 0
	;;
	mov ar.lc = r21
	;;
.Lcheck:
	ld8 r23 = [r20], 8
	;;
	or r22 = r22, r23
	br.cloop.sptk .Lcheck
	;;
	adds r19 = 48, sp
	mov r8 = 1
	mov r24 = 5050
	;;
	ld8 r14 = [r19]
	cmp.eq p6, p7 = 0, r22
	;;
	(p6) cmp.eq p6, p0 = r14, r24
	;;
	(p6) mov r8 = 0
	mov sp = loc3
	mov b0 = loc1
	mov ar.pfs = loc0
	mov ar.lc = loc6
	;;
	br.ret.sptk.many b0
	;;
	.endp program#

// As __ia64_trampoline of libgcc: gp is the second half of the closure.
	.global enter_closure#
	.proc enter_closure#
enter_closure:
	ld8 r2 = [gp], 8
	;;
	ld8 r15 = [gp]
	ld8 r3 = [r2], 8
	;;
	ld8 gp = [r2]
	mov b6 = r3
	;;
	br.sptk.many b6
	;;
	.endp enter_closure#

// The function, with the outer one's variable at r15.
	.global nested#
	.proc nested#
nested:
	alloc r2 = ar.pfs, 1, 0, 0, 0
	ld8 r14 = [r15]
	;;
	add r14 = r14, in0
	;;
	st8 [r15] = r14
	br.ret.sptk.many b0
	;;
	.endp nested#

// As __do_global_ctors_aux of gcc's crtend.o, it returns with the end of a list in gp.
	.global spoil#
	.proc spoil#
spoil:
	alloc r2 = ar.pfs, 1, 1, 0, 0
	mov r8 = 0
	;;
	mov loc0 = -1
	;;
	mov gp = loc0
	tbit.nz p6, p7 = in0, 0
	;;
	(p6) br.cond.sptk .Lodd
	;;
	adds r8 = 1, r8
	;;
.Lodd:
	mov ar.pfs = r2
	br.ret.sptk.many b0
	;;
	.endp spoil#
