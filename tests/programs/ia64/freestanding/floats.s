	.file	"floats.c"
	.pred.safe_across_calls p1-p5,p16-p63
	.text
	.section	.rodata.str1.8,"aMS",@progbits,1
	.align 8
.LC0:
	stringz	"floats\n"
	.sdata
	.align 8
.LC1:
	data8	single#+252
	.text
	.align 16
	.align 64
	.global program#
	.type	program#, @function
	.proc program#
program:
	.prologue 12, 33
	.mmi
	.save ar.pfs, r34
	alloc r34 = ar.pfs, 0, 5, 1, 0
	.fframe 32
	adds r12 = -32, r12
	.save ar.lc, r36
	mov r36 = ar.lc
	.mlx
	mov r35 = r1
	movl r37 = @gprel(.LC0)
	;;
	.mib
	add r37 = r1, r37
	.save rp, r33
	mov r33 = b0
	.body
	br.call.sptk.many b0 = put#
	;;
	.mlx
	mov r1 = r35
	movl r14 = 0x3fd0000000000000
	.mlx
	mov r19 = r0
	movl r15 = 0x3fc0000000000000
	;;
	.mlx
	setf.d f15 = r14
	movl r24 = @gprel(a#)
	.mlx
	setf.d f14 = r15
	movl r25 = @gprel(b#)
	;;
	.mmi
	add r24 = r1, r24
	nop 0
	add r25 = r1, r25
	;;
	.mmi
	nop 0
	mov r22 = r25
	mov r20 = r24
	;;
.L2:
	.mmi
	mov r17 = r22
	mov r16 = r20
	mov ar.lc = 19
	.mmi
	mov r15 = r0
	adds r18 = 1, r19
	sxt4 r14 = r19
	;;
	.mmi
	nop 0
	setf.sig f6 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f6 = f6
	;;
	.mmf
	nop 0
	nop 0
	fnorm.d f6 = f6
	;;
	.mfi
	nop 0
	fmpy.d f13 = f6, f15
	nop 0
	.align 32
.L3:
	.mmi
	setf.sig f6 = r15
	add r14 = r18, r15
	adds r15 = 1, r15
	;;
	.mii
	nop 0
	sxt4 r14 = r14
	nop 0
	;;
	.mfi
	nop 0
	xmpy.l f7 = f6, f6
	nop 0
	.mmi
	setf.sig f6 = r14
	nop 0
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fsxt.r f7 = f7, f7
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f6 = f6
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f7 = f7
	;;
	.mmf
	nop 0
	nop 0
	frcpa.s0 f8, p6 = f1, f6
	;;
	.mmf
	nop 0
	nop 0
	fnorm.d f7 = f7
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f11 = f6, f8, f1
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f10 = f8, f1
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fmpy.d f7 = f7, f14
	;;
	.mfi
	nop 0
	(p6) fma.s1 f9 = f11, f11, f11
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f12 = f11, f11
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fsub.d f7 = f13, f7
	;;
	.mfi
	nop 0
	(p6) fma.s1 f11 = f12, f12, f11
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f12 = f10, f9, f10
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f9 = f8, f9, f8
	;;
	.mmi
	nop 0
	stfd [r17] = f7, 8
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s1 f10 = f12, f11, f10
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f9 = f9, f11, f8
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f6 = f6, f10, f1
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s0 f8 = f6, f9, f10
	;;
	.mib
	stfd [r16] = f8, 8
	nop 0
	br.cloop.sptk.few .L3
	.mmi
	adds r19 = 1, r19
	adds r20 = 160, r20
	adds r22 = 160, r22
	;;
	.mib
	nop 0
	cmp.ne p6, p7 = 20, r19
	(p6) br.cond.dptk .L2
	.mlx
	nop 0
	movl r22 = @gprel(c#)
	.mmi
	adds r20 = 160, r24
	adds r21 = 160, r25
	adds r24 = 3360, r24
	;;
	.mii
	add r22 = r1, r22
	nop 0
	;;
	mov r23 = r22
	;;
.L4:
	.mmi
	mov r17 = r25
	mov r19 = r23
	adds r18 = -160, r20
	;;
	.align 32
.L8:
	.mfi
	nop 0
	mov f7 = f0
	sub r16 = r20, r18
	.mii
	mov r14 = r18
	mov r15 = r17
	;;
	adds r16 = -8, r16
	;;
	.mii
	nop 0
	shr.u r16 = r16, 3
	;;
	mov ar.lc = r16
	.align 32
.L5:
	.mmi
	ldfd f6 = [r14], 8
	ldfd f8 = [r15], 160
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fmpy.d f6 = f6, f8
	;;
	.mfb
	nop 0
	fadd.d f7 = f7, f6
	br.cloop.sptk.few .L5
	;;
	.mmi
	adds r17 = 8, r17
	stfd [r19] = f7, 8
	nop 0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = r17, r21
	(p7) br.cond.dptk .L8
	.mmi
	adds r20 = 160, r14
	nop 0
	adds r23 = 160, r23
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = r24, r20
	(p7) br.cond.dptk .L4
	.mfi
	nop 0
	mov f8 = f0
	adds r14 = 3360, r22
.L9:
	.mmi
	nop 0
	ldfd f6 = [r22], 168
	nop 0
	;;
	.mfi
	nop 0
	fadd.d f8 = f8, f6
	nop 0
	.mmb
	cmp.ne p6, p7 = r14, r22
	nop 0
	(p6) br.cond.dptk .L9
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = put_double#
	;;
	.mlx
	nop 0
	movl r15 = 0x4000000000000000
	.mlx
	mov r1 = r35
	movl r14 = 0x3fe0000000000000
	;;
	.mmi
	setf.d f8 = r15
	setf.d f15 = r14
	mov ar.lc = 39
	;;
	.mmf
	nop 0
	nop 0
	mov f13 = f8
	;;
.L10:
	.mmf
	nop 0
	nop 0
	frcpa.s0 f6, p6 = f13, f8
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f11 = f8, f6, f1
	nop 0
	.mfi
	nop 0
	(p6) fadd.s1 f10 = f6, f6
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f7 = f11, f11, f11
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f12 = f11, f11
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f14 = f10, f7, f10
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f11 = f12, f12, f11
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f7 = f6, f7, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s1 f10 = f14, f11, f10
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f7 = f7, f11, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f9 = f8, f10, f13
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s0 f6 = f9, f7, f10
	;;
	.mmf
	nop 0
	nop 0
	fadd.d f8 = f6, f8
	;;
	.mfb
	nop 0
	fmpy.d f8 = f8, f15
	br.cloop.sptk.few .L10
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = put_double#
	;;
	.mfi
	nop 0
	mov f8 = f1
	mov ar.lc = 39
	.mlx
	mov r1 = r35
	movl r15 = 0x3ddb7cdfd9d7bdbb
	;;
	.mlx
	nop 0
	movl r14 = 0x3fe0000000000000
	.mmi
	setf.d f13 = r15
	;;
	setf.d f15 = r14
	nop 0
.L11:
	.mmf
	nop 0
	nop 0
	frcpa.s0 f6, p6 = f13, f8
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f11 = f8, f6, f1
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f10 = f13, f6
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f7 = f11, f11, f11
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f12 = f11, f11
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f14 = f10, f7, f10
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f11 = f12, f12, f11
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f7 = f6, f7, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s1 f10 = f14, f11, f10
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f7 = f7, f11, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f9 = f8, f10, f13
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s0 f6 = f9, f7, f10
	;;
	.mmf
	nop 0
	nop 0
	fadd.d f8 = f6, f8
	;;
	.mfb
	nop 0
	fmpy.d f8 = f8, f15
	br.cloop.sptk.few .L11
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = put_double#
	;;
	.mfb
	nop 0
	mov f6 = f1
	nop 0
	.mmi
	mov r1 = r35
	addl r15 = 1, r0
	mov ar.lc = 23
	;;
	.mfi
	nop 0
	mov f8 = f6
	nop 0
.L12:
	.mii
	nop 0
	sxt4 r14 = r15
	adds r15 = 1, r15
	;;
	.mmi
	nop 0
	setf.sig f7 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f9 = f7
	;;
	.mmf
	nop 0
	nop 0
	frcpa.s0 f7, p6 = f6, f9
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f12 = f9, f7, f1
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f11 = f6, f7
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f10 = f12, f12, f12
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f13 = f12, f12
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f14 = f11, f10, f11
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f12 = f13, f13, f12
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f10 = f7, f10, f7
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s1 f11 = f14, f12, f11
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f10 = f10, f12, f7
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f6 = f9, f11, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s0 f7 = f6, f10, f11
	;;
	.mfi
	nop 0
	mov f6 = f7
	nop 0
	.mfb
	nop 0
	fadd.d f8 = f8, f7
	br.cloop.sptk.few .L12
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = put_double#
	;;
	.mmi
	mov r1 = r35
	mov r15 = r0
	mov ar.lc = 63
	.mlx
	nop 0
	movl r14 = 0x40e00000
	;;
	.mlx
	setf.s f11 = r14
	movl r14 = 0x3c23d70a
	.mlx
	nop 0
	movl r16 = @gprel(single#)
	;;
	.mii
	setf.s f12 = r14
	add r16 = r1, r16
	;;
	mov r17 = r16
.L13:
	.mii
	setf.sig f6 = r15
	sxt4 r14 = r15
	adds r15 = 1, r15
	;;
	.mmi
	nop 0
	setf.sig f8 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.l f7 = f6, f6
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f6 = f8
	;;
	.mmf
	nop 0
	nop 0
	fsxt.r f7 = f7, f7
	;;
	.mmf
	nop 0
	nop 0
	fnorm.s f6 = f6
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f7 = f7
	;;
	.mfi
	nop 0
	fnorm.s f8 = f7
	nop 0
	.mfi
	nop 0
	frcpa.s0 f7, p6 = f6, f11
	nop 0
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f9 = f11, f7, f1
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f10 = f6, f7
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fmpy.s f8 = f8, f12
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f9 = f9, f9, f9
	;;
	.mfi
	nop 0
	(p6) fma.s.s1 f10 = f10, f9, f10
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f9 = f7, f9, f7
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f6 = f10, f11, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s.s0 f7 = f6, f9, f10
	;;
	.mmf
	nop 0
	nop 0
	fsub.s f7 = f7, f8
	;;
	.mib
	stfs [r17] = f7, 4
	nop 0
	br.cloop.sptk.few .L13
	;;
	.mmf
	nop 0
	nop 0
	mov f8 = f0
	.mmi
	addl r14 = @gprel(.LC1), gp
	nop 0
	mov ar.lc = 63
	;;
	.mmi
	ld8 r14 = [r14]
	nop 0
	nop 0
	;;
.L14:
	.mmi
	ldfs f6 = [r16], 4
	ldfs f7 = [r14], -4
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fmpy.s f6 = f6, f7
	;;
	.mfb
	nop 0
	fadd.s f8 = f8, f6
	br.cloop.sptk.few .L14
	;;
	.mfb
	nop 0
	fnorm.d f8 = f8
	br.call.sptk.many b0 = put_double#
	;;
	.mlx
	mov r1 = r35
	movl r14 = 0x408f400000000000
	.mlx
	addl r18 = -50, r0
	movl r15 = 0x4132d687e4189375
	;;
	.mlx
	setf.d f12 = r14
	movl r14 = 0x3fe0000000000000
	.mmi
	setf.d f15 = r15
	mov r37 = r0
	adds r17 = 32, r12
	;;
	.mmi
	nop 0
	setf.d f14 = r14
	mov ar.lc = 99
	.align 32
.L15:
	.mii
	nop 0
	sxt4 r14 = r18
	shl r15 = r37, 5
	.mmi
	adds r18 = 1, r18
	;;
	setf.sig f7 = r14
	sub r15 = r15, r37
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f6 = f7
	;;
	.mmf
	nop 0
	nop 0
	fnorm.d f6 = f6
	;;
	.mmf
	nop 0
	nop 0
	fmpy.d f6 = f6, f15
	;;
	.mmi
	getf.d r14 = f6
	;;
	st8.rel [r17] = r14
	nop 0
	;;
	.mmi
	ld8.acq r14 = [r17]
	;;
	setf.d f6 = r14
	nop 0
	.mmi
	ld8.acq r14 = [r17]
	;;
	setf.d f7 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fcvt.fx.trunc f6 = f6
	;;
	.mfi
	getf.sig r16 = f6
	frcpa.s0 f6, p6 = f7, f12
	nop 0
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f10 = f12, f6, f1
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f9 = f7, f6
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f8 = f10, f10, f10
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f11 = f10, f10
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f13 = f9, f8, f9
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f10 = f11, f11, f10
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f8 = f6, f8, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s1 f9 = f13, f10, f9
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f8 = f8, f10, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f7 = f12, f9, f7
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s0 f6 = f7, f8, f9
	;;
	.mmf
	nop 0
	nop 0
	fcvt.fx.trunc f6 = f6
	;;
	.mmi
	getf.sig r14 = f6
	;;
	nop 0
	sxt4 r14 = r14
	;;
	.mmi
	add r14 = r14, r16
	;;
	add r14 = r14, r15
	nop 0
	;;
	.mii
	nop 0
	shr.u r15 = r14, 3
	nop 0
	;;
	.mmi
	nop 0
	setf.sig f6 = r15
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f6 = f6
	;;
	.mmf
	nop 0
	nop 0
	fnorm.d f6 = f6
	;;
	.mmf
	nop 0
	nop 0
	fmpy.d f6 = f6, f14
	;;
	.mmf
	nop 0
	nop 0
	fcvt.fxu.trunc f6 = f6
	;;
	.mmi
	nop 0
	getf.sig r37 = f6
	nop 0
	;;
	.mib
	nop 0
	add r37 = r37, r14
	br.cloop.sptk.few .L15
	.mib
	adds r32 = 24, r12
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mlx
	getf.d r14 = f0
	movl r15 = 0x7fe1ccf385ebc8a0
	.mmi
	mov r1 = r35
	;;
	st8.rel [r32] = r14
	adds r14 = 16, r12
	;;
	.mmi
	nop 0
	st8.rel [r14] = r15
	nop 0
	;;
	.mlx
	ld8.acq r15 = [r14]
	movl r14 = 0x4024000000000000
	;;
	.mmi
	setf.d f6 = r14
	setf.d f8 = r15
	nop 0
	;;
	.mfb
	nop 0
	fmpy.d f8 = f8, f6
	br.call.sptk.many b0 = put_double#
	;;
	.mlx
	ld8.acq r15 = [r32]
	movl r14 = 0x00000000000007e8
	.mmi
	mov r1 = r35
	;;
	setf.d f6 = r14
	nop 0
	.mlx
	setf.d f7 = r15
	movl r15 = 0xbff0000000000000
	;;
	.mfi
	nop 0
	fadd.d f7 = f7, f6
	nop 0
	.mmi
	setf.d f6 = r15
	nop 0
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	frcpa.s0 f8, p6 = f6, f7
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f11 = f7, f8, f1
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f10 = f6, f8
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f9 = f11, f11, f11
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f12 = f11, f11
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f13 = f10, f9, f10
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f11 = f12, f12, f11
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f9 = f8, f9, f8
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s1 f10 = f13, f11, f10
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f9 = f9, f11, f8
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f6 = f7, f10, f6
	;;
	.mfb
	nop 0
	(p6) fma.d.s0 f8 = f6, f9, f10
	br.call.sptk.many b0 = put_double#
	;;
	.mmi
	nop 0
	ld8.acq r14 = [r32]
	mov r1 = r35
	.mmi
	nop 0
	ld8.acq r15 = [r32]
	nop 0
	;;
	.mmi
	setf.d f9 = r14
	ld8.acq r14 = [r32]
	nop 0
	.mmi
	setf.d f15 = r15
	ld8.acq r32 = [r32]
	nop 0
	;;
	.mmi
	setf.d f8 = r14
	setf.d f14 = r32
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	frcpa.s0 f7, p7 = f9, f15
	;;
	.mmf
	nop 0
	nop 0
	frcpa.s0 f6, p6 = f8, f14
	;;
	.mfi
	nop 0
	(p7) fnma.s1 f33 = f15, f7, f1
	nop 0
	.mfi
	nop 0
	(p7) fmpy.s1 f13 = f9, f7
	nop 0
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f32 = f14, f6, f1
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f11 = f8, f6
	nop 0
	;;
	.mfi
	nop 0
	(p7) fma.s1 f12 = f33, f33, f33
	nop 0
	.mfi
	nop 0
	(p7) fmpy.s1 f35 = f33, f33
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f10 = f32, f32, f32
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f34 = f32, f32
	nop 0
	;;
	.mfi
	nop 0
	(p7) fma.s1 f33 = f35, f35, f33
	nop 0
	.mfi
	nop 0
	(p7) fma.s1 f35 = f13, f12, f13
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f32 = f34, f34, f32
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f34 = f11, f10, f11
	nop 0
	;;
	.mfi
	nop 0
	(p7) fma.s1 f12 = f7, f12, f7
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f10 = f6, f10, f6
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p7) fma.d.s1 f13 = f35, f33, f13
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s1 f11 = f34, f32, f11
	;;
	.mfi
	nop 0
	(p7) fma.s1 f12 = f12, f33, f7
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f10 = f10, f32, f6
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p7) fnma.s1 f9 = f15, f13, f9
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f8 = f14, f11, f8
	;;
	.mmf
	nop 0
	nop 0
	(p7) fma.d.s0 f7 = f9, f12, f13
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.d.s0 f6 = f8, f10, f11
	;;
	.mmf
	nop 0
	nop 0
	fcmp.neq p6, p7 = f7, f6
	;;
	.mmi
	nop 0
	(p6) addl r37 = 1, r0
	nop 0
	;;
	.mib
	(p7) mov r37 = r0
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mmi
	addl r8 = 11, r0
	mov r1 = r35
	mov b0 = r33
	;;
	.mii
	nop 0
	mov ar.pfs = r34
	;;
	mov ar.lc = r36
	.mmb
	nop 0
	.restore sp
	adds r12 = 32, r12
	br.ret.sptk.many b0
	.endp program#
	.bss
	.align 4
	.type	single#, @object
	.size	single#, 256
single:
	.skip	256
	.align 8
	.type	c#, @object
	.size	c#, 3200
c:
	.skip	3200
	.align 8
	.type	b#, @object
	.size	b#, 3200
b:
	.skip	3200
	.align 8
	.type	a#, @object
	.size	a#, 3200
a:
	.skip	3200
	.ident	"GCC: (GNU) 12.2.0"
