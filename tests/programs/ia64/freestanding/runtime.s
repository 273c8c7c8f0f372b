	.file	"runtime.c"
	.pred.safe_across_calls p1-p5,p16-p63
	.text
	.align 16
	.align 64
	.global put#
	.type	put#, @function
	.proc put#
put:
	.prologue 12, 33
	.mmi
	.save ar.pfs, r34
	alloc r34 = ar.pfs, 1, 3, 2, 0
	ld1 r14 = [r32]
	.save rp, r33
	mov r33 = b0
	.mmi
	adds r15 = 1, r32
	mov r35 = r1
	.body
	mov r36 = r32
	;;
	.mii
	nop 0
	sxt1 r14 = r14
	mov r37 = r0
	;;
	.mmi
	nop 0
	cmp4.eq p6, p7 = 0, r14
	nop 0
	;;
	.mib
	nop 0
	(p6) mov r37 = r0
	(p6) br.cond.dpnt .L2
	;;
	.align 32
.L3:
	.mii
	ld1 r14 = [r15], 1
	adds r37 = 1, r37
	;;
	sxt1 r14 = r14
	;;
	.mib
	nop 0
	cmp4.ne p6, p7 = 0, r14
	(p6) br.cond.dptk .L3
.L2:
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = write_out#
	;;
	.mmi
	mov r1 = r35
	nop 0
	mov b0 = r33
	;;
	.mib
	nop 0
	mov ar.pfs = r34
	br.ret.sptk.many b0
	.endp put#
	.section	.rodata.str1.8,"aMS",@progbits,1
	.align 8
.LC0:
	stringz	"0123456789abcdef"
	.text
	.align 16
	.align 64
	.global put_hex#
	.type	put_hex#, @function
	.proc put_hex#
put_hex:
	.prologue 12, 33
	.mmi
	.save ar.pfs, r34
	alloc r34 = ar.pfs, 1, 4, 2, 0
	.fframe 32
	adds r12 = -32, r12
	.save rp, r33
	mov r33 = b0
	.mlx
	mov r35 = r1
	movl r17 = @gprel(.LC0)
	;;
	.mmb
	adds r16 = 16, r12
	addl r15 = 60, r0
	nop 0
	.mii
	add r17 = r1, r17
	.save ar.lc, r36
	mov r36 = ar.lc
	.body
	;;
	mov ar.lc = 15
	.align 32
.L9:
	.mii
	addp4 r14 = r15, r0
	adds r15 = -4, r15
	;;
	shr.u r14 = r32, r14
	;;
	.mmi
	and r14 = 15, r14
	;;
	add r14 = r17, r14
	nop 0
	;;
	.mmi
	nop 0
	ld1 r14 = [r14]
	nop 0
	;;
	.mib
	st1 [r16] = r14, 1
	nop 0
	br.cloop.sptk.few .L9
	.mmi
	adds r14 = 32, r12
	nop 0
	addl r15 = 10, r0
	.mmi
	addl r38 = 17, r0
	nop 0
	adds r37 = 16, r12
	;;
	.mib
	st1 [r14] = r15
	nop 0
	br.call.sptk.many b0 = write_out#
	;;
	.mii
	mov r1 = r35
	mov b0 = r33
	;;
	mov ar.pfs = r34
	;;
	.mii
	nop 0
	mov ar.lc = r36
	nop 0
	.mmb
	.restore sp
	adds r12 = 32, r12
	nop 0
	br.ret.sptk.many b0
	.endp put_hex#
	.align 16
	.align 64
	.global put_double#
	.type	put_double#, @function
	.proc put_double#
put_double:
	.prologue 12, 32
	.mmi
	.save ar.pfs, r33
	alloc r33 = ar.pfs, 0, 4, 2, 0
	.fframe 32
	adds r12 = -32, r12
	.save rp, r32
	mov r32 = b0
	.mlx
	mov r34 = r1
	movl r18 = @gprel(.LC0)
	;;
	.mmb
	getf.d r17 = f8
	adds r16 = 16, r12
	nop 0
	.mmi
	addl r15 = 60, r0
	add r18 = r1, r18
	.save ar.lc, r35
	mov r35 = ar.lc
	.body
	;;
	.mii
	nop 0
	mov ar.lc = 15
	nop 0
	.align 32
.L14:
	.mii
	addp4 r14 = r15, r0
	adds r15 = -4, r15
	;;
	shr.u r14 = r17, r14
	;;
	.mmi
	and r14 = 15, r14
	;;
	add r14 = r18, r14
	nop 0
	;;
	.mmi
	nop 0
	ld1 r14 = [r14]
	nop 0
	;;
	.mib
	st1 [r16] = r14, 1
	nop 0
	br.cloop.sptk.few .L14
	.mmi
	adds r14 = 32, r12
	nop 0
	addl r15 = 10, r0
	.mmi
	addl r37 = 17, r0
	nop 0
	adds r36 = 16, r12
	;;
	.mib
	st1 [r14] = r15
	nop 0
	br.call.sptk.many b0 = write_out#
	;;
	.mii
	mov r1 = r34
	mov b0 = r32
	;;
	mov ar.pfs = r33
	;;
	.mii
	nop 0
	mov ar.lc = r35
	nop 0
	.mmb
	.restore sp
	adds r12 = 32, r12
	nop 0
	br.ret.sptk.many b0
	.endp put_double#
	.align 16
	.align 64
	.global memcpy#
	.type	memcpy#, @function
	.proc memcpy#
memcpy:
	.prologue
	.mmb
	cmp.eq p6, p7 = 0, r34
	add r34 = r33, r34
	nop 0
	.mii
	mov r14 = r32
	.save ar.lc, r2
	mov r2 = ar.lc
	.body
	mov r8 = r32
	;;
	.mib
	nop 0
	sub r34 = r34, r33, 1
	(p6) br.cond.dpnt .L19
	;;
	.mii
	nop 0
	mov ar.lc = r34
	nop 0
	.align 32
.L20:
	.mmi
	nop 0
	ld1 r15 = [r33], 1
	nop 0
	;;
	.mib
	st1 [r14] = r15, 1
	nop 0
	br.cloop.sptk.few .L20
	;;
.L19:
	.mib
	nop 0
	mov ar.lc = r2
	br.ret.sptk.many b0
	.endp memcpy#
	.align 16
	.align 64
	.global memset#
	.type	memset#, @function
	.proc memset#
memset:
	.prologue
	.mmi
	add r15 = r34, r32
	mov r14 = r32
	.save ar.lc, r2
	mov r2 = ar.lc
	.body
	.mmi
	mov r8 = r32
	cmp.ne p6, p7 = 0, r34
	sxt1 r33 = r33
	;;
	.mib
	nop 0
	sub r15 = r15, r32, 1
	(p7) br.cond.dpnt .L32
	;;
	.mii
	nop 0
	mov ar.lc = r15
	nop 0
	;;
	.align 32
.L29:
	.mib
	st1 [r14] = r33, 1
	nop 0
	br.cloop.sptk.few .L29
	;;
.L32:
	.mib
	nop 0
	mov ar.lc = r2
	br.ret.sptk.many b0
	.endp memset#
	.ident	"GCC: (GNU) 12.2.0"
