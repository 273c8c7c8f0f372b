	.file	"floats.c"
	.pred.safe_across_calls p1-p5,p16-p63
	.text
	.align 16
	.align 64
	.proc fdivide#
fdivide:
	.prologue
	.body
	.mfi
	nop 0
	mov f6 = f8
	nop 0
	.mfi
	nop 0
	frcpa.s0 f8, p6 = f8, f9
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f10 = f9, f8, f1
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f7 = f8, f10, f8
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f7 = f7, f10, f8
	;;
	.mmf
	nop 0
	nop 0
	(p6) fmpy.s.s1 f10 = f6, f7
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f6 = f10, f9, f6
	;;
	.mfb
	nop 0
	(p6) fma.s.s0 f8 = f6, f7, f10
	br.ret.sptk.many b0
	.endp fdivide#
	.align 16
	.align 64
	.proc to_long#
to_long:
	.prologue
	.body
	.mmf
	nop 0
	nop 0
	fcvt.fx.trunc f8 = f8
	;;
	.mib
	getf.sig r8 = f8
	nop 0
	br.ret.sptk.many b0
	.endp to_long#
	.align 16
	.align 64
	.proc to_int#
to_int:
	.prologue
	.body
	.mmf
	nop 0
	nop 0
	fcvt.fx.trunc f8 = f8
	;;
	.mib
	getf.sig r8 = f8
	nop 0
	br.ret.sptk.many b0
	.endp to_int#
	.align 16
	.align 64
	.proc to_ulong#
to_ulong:
	.prologue
	.body
	.mmf
	nop 0
	nop 0
	fcvt.fxu.trunc f8 = f8
	;;
	.mib
	getf.sig r8 = f8
	nop 0
	br.ret.sptk.many b0
	.endp to_ulong#
	.align 16
	.align 64
	.proc choose.constprop.0#
choose.constprop.0:
	.prologue
	.body
	.mfi
	nop 0
	fcmp.gt p6, p7 = f8, f0
	nop 0
	.mlx
	nop 0
	movl r14 = 0x401c000000000000
	;;
	.mmi
	nop 0
	setf.d f6 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) mov f6 = f0
	;;
	.mfb
	nop 0
	mov f8 = f6
	br.ret.sptk.many b0
	.endp choose.constprop.0#
	.align 16
	.align 64
	.proc compare.constprop.0#
compare.constprop.0:
	.prologue
	.body
	.mmf
	nop 0
	nop 0
	fcmp.eq p6, p7 = f8, f0
	.mfi
	nop 0
	fcmp.le p12, p13 = f8, f0
	addl r8 = 1, r0
	;;
	.mfi
	nop 0
	fcmp.neq p10, p11 = f8, f0
	nop 0
	.mfi
	nop 0
	fcmp.lt p8, p9 = f8, f0
	nop 0
	;;
	.mmi
	(p6) addl r15 = 1, r0
	nop 0
	(p12) addl r16 = 1, r0
	;;
	.mmi
	(p7) mov r15 = r0
	(p13) mov r16 = r0
	nop 0
	.mmf
	(p10) addl r19 = 1, r0
	(p8) addl r14 = 1, r0
	fcmp.unord p6, p7 = f8, f0
	;;
	.mmi
	shladd r16 = r16, 1, r0
	(p11) mov r19 = r0
	nop 0
	.mfi
	shladd r15 = r15, 2, r0
	fcmp.gt p10, p11 = f8, f0
	(p9) mov r14 = r0
	;;
	.mmf
	or r15 = r16, r15
	nop 0
	fcmp.ge p8, p9 = f8, f0
	.mmi
	shladd r19 = r19, 3, r0
	nop 0
	(p6) addl r16 = 1, r0
	;;
	.mmi
	(p10) addl r18 = 1, r0
	or r14 = r15, r14
	(p7) mov r16 = r0
	;;
	.mmb
	(p11) mov r18 = r0
	(p8) addl r17 = 1, r0
	nop 0
	.mmi
	or r14 = r19, r14
	nop 0
	dep.z r16 = r16, 6, 26
	;;
	.mii
	(p9) mov r17 = r0
	shladd r18 = r18, 4, r0
	;;
	dep.z r17 = r17, 5, 27
	.mmi
	or r14 = r18, r14
	;;
	or r14 = r17, r14
	nop 0
	;;
	.mib
	nop 0
	or r14 = r16, r14
	(p6) br.cond.dpnt .L17
	;;
	.mmi
	(p9) mov r8 = r0
	nop 0
	nop 0
	;;
.L17:
	.mmi
	xor r8 = 1, r8
	;;
	nop 0
	dep.z r8 = r8, 7, 1
	;;
	.mib
	nop 0
	or r8 = r14, r8
	br.ret.sptk.many b0
	.endp compare.constprop.0#
	.align 16
	.align 64
	.proc divide.constprop.0#
divide.constprop.0:
	.prologue
	.body
	.mlx
	nop 0
	movl r14 = 0x3fd5555555555555
	;;
	.mib
	setf.d f8 = r14
	nop 0
	br.ret.sptk.many b0
	.endp divide.constprop.0#
	.section	.rodata.str1.8,"aMS",@progbits,1
	.align 8
.LC0:
	stringz	"mode %d: %016lx %ld %ld\n"
	.align 8
.LC1:
	stringz	"body %d: %.12g %.12g\n"
	.align 8
.LC2:
	stringz	"%g: %ld %d %g %g %g %d\n"
	.align 8
.LC3:
	stringz	"ulong %lu %lu\n"
	.align 8
.LC4:
	stringz	"libm %.15g %.15g %.15g %.15g %.15g\n"
	.align 8
.LC5:
	stringz	"libm %.9g %.9g %.9g %.9g\n"
	.align 8
.LC8:
	stringz	"quad %.30Lg %d %d\n"
	.align 8
.LC9:
	stringz	"3.14159265358979323846"
	.align 8
.LC10:
	stringz	"1e-300"
	.align 8
.LC11:
	stringz	"0x1.8p3"
	.align 8
.LC12:
	stringz	"parse %.17g %.17g %a\n"
	.align 8
.LC14:
	stringz	"%.10e|%g|%.3f|%Lg"
	.align 8
.LC15:
	stringz	"hash %016lx\n"
	.section	.rodata.cst16,"aM",@progbits,16
	.align 16
.LC6:
	data4	0
	data4	-2013265920
	data4	16383
	data4	0
	.align 16
.LC7:
	data4	0
	data4	-1073741824
	data4	16386
	data4	0
	.align 16
.LC13:
	data4	0
	data4	-1073741824
	data4	16383
	data4	0
	.section	.text.startup,"ax",@progbits
	.align 16
	.align 64
	.global main#
	.type	main#, @function
	.proc main#
main:
	.prologue 12, 50
	.mmb
	.save ar.pfs, r51
	alloc r51 = ar.pfs, 0, 21, 8, 0
	adds r16 = -104, r12
	nop 0
	.mmi
	adds r17 = -96, r12
	.fframe 320
	adds r12 = -320, r12
	mov r18 = ar.lc
	;;
	.mmi
	mov r52 = r1
	.save.f 0x1
	stf.spill [r17] = f2, 32
	.save rp, r50
	mov r50 = b0
	.mlx
	mov r32 = r0
	movl r14 = 0x4004000000000000
	;;
	.mlx
	nop 0
	movl r15 = 0xc00c000000000000
	.mlx
	.save.f 0x4
	stf.spill [r17] = f4, 32
	movl r33 = @gprel(modes.1#)
	;;
	.mmi
	setf.d f2 = r15
	.save.gf 0x0, 0x10
	stf.spill [r17] = f16, 32
	mov ar.lc = 3
	.mlx
	add r33 = r1, r33
	movl r36 = @gprel(.LC0)
	;;
	.mmi
	.save.gf 0x0, 0x40
	stf.spill [r17] = f18
	nop 0
	add r36 = r1, r36
	;;
	.mmi
	.savesp ar.lc, 216
	st8 [r16] = r18, 24
	;;
	.save.f 0x2
	stf.spill [r16] = f3, 32
	nop 0
	.mmi
	setf.d f3 = r14
	;;
	.save.f 0x8
	stf.spill [r16] = f5, 32
	nop 0
	.mmi
	nop 0
	;;
	.save.gf 0x0, 0x20
	stf.spill [r16] = f17
	.body
	nop 0
.L24:
	.mib
	ld4 r53 = [r33], 4
	nop 0
	br.call.sptk.many b0 = fesetround#
	;;
	.mib
	mov r1 = r52
	cmp4.ne p6, p7 = 0, r8
	(p6) br.cond.dptk .L23
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = divide.constprop.0#
	;;
	.mmf
	nop 0
	nop 0
	mov f6 = f8
	.mmf
	mov r1 = r52
	nop 0
	mov f8 = f3
	;;
	.mib
	getf.d r34 = f6
	nop 0
	br.call.sptk.many b0 = lrint#
	;;
	.mfi
	nop 0
	mov f8 = f2
	nop 0
	.mmb
	mov r1 = r52
	mov r35 = r8
	br.call.sptk.many b0 = lrint#
	;;
	.mmi
	mov r1 = r52
	mov r57 = r8
	nop 0
	.mmi
	mov r56 = r35
	mov r54 = r32
	mov r53 = r36
	;;
	.mib
	nop 0
	mov r55 = r34
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	mov r1 = r52
	nop 0
	nop 0
.L23:
	.mib
	nop 0
	adds r32 = 1, r32
	br.cloop.sptk.few .L24
	.mmi
	mov r53 = r0
	adds r43 = 144, r12
	adds r44 = 112, r12
	.mmb
	adds r46 = 80, r12
	addl r45 = 3000, r0
	br.call.sptk.many b0 = fesetround#
	;;
	.mlx
	adds r14 = 152, r12
	movl r15 = 0x4004000000000000
	.mmi
	mov r1 = r52
	stfd [r43] = f0
	adds r49 = 176, r12
	;;
	.mlx
	stfd [r14] = f1
	movl r14 = 0x3f847ae147ae147b
	.mmi
	stfd [r44] = f0
	;;
	setf.d f17 = r14
	adds r14 = 160, r12
	.mmi
	stfd [r46] = f0
	;;
	stfd [r14] = f0
	adds r14 = 168, r12
	;;
	.mlx
	st8 [r14] = r15
	movl r14 = 0x3f50624dd2f1a9fc
	.mlx
	nop 0
	movl r15 = 0x3ff8000000000000
	;;
	.mmi
	setf.d f16 = r14
	nop 0
	adds r14 = 120, r12
	;;
	.mmi
	stfd [r14] = f0
	nop 0
	adds r14 = 128, r12
	;;
	.mmi
	st8 [r14] = r15
	nop 0
	adds r14 = 136, r12
	;;
	.mmi
	getf.d r15 = f0
	stfd [r14] = f1
	adds r14 = 88, r12
	;;
	.mmi
	stfd [r14] = f0
	nop 0
	adds r14 = 96, r12
	;;
	.mmi
	stfd [r14] = f1
	nop 0
	adds r14 = 104, r12
	;;
	.mmi
	stfd [r14] = f0
	nop 0
	adds r14 = 16, r12
	;;
	.mmi
	st8 [r14] = r15
	nop 0
	adds r14 = 24, r12
	;;
	.mmi
	stfd [r14] = f1
	nop 0
	adds r14 = 32, r12
	;;
	.mmi
	nop 0
	st8 [r14] = r15
	adds r14 = 40, r12
	.mlx
	nop 0
	movl r15 = 0xbfe0000000000000
	;;
	.mmi
	st8 [r14] = r15
	nop 0
	nop 0
	.align 32
.L25:
	.mmi
	adds r41 = 16, r12
	mov r47 = r43
	mov r48 = r44
	.mmi
	mov r42 = r46
	mov r36 = r46
	mov r40 = r44
	;;
	.mmi
	mov r37 = r41
	mov r39 = r43
	mov r38 = r0
.L31:
	.mmi
	mov r35 = r44
	mov r34 = r43
	mov ar.lc = 3
	.mlx
	mov r32 = r0
	movl r33 = @gprel(mass.0#)
	;;
	.mmi
	add r33 = r1, r33
	nop 0
	nop 0
.L27:
	.mib
	cmp4.eq p6, p7 = r32, r38
	nop 0
	(p6) br.cond.dpnt .L26
	;;
	.mmi
	nop 0
	ldfd f6 = [r35]
	nop 0
	.mmi
	ldfd f7 = [r40]
	ldfd f3 = [r33]
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fsub.d f4 = f6, f7
	.mmi
	ldfd f6 = [r34]
	ldfd f7 = [r39]
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fmpy.d f2 = f4, f4
	;;
	.mmf
	nop 0
	nop 0
	fsub.d f5 = f6, f7
	;;
	.mmf
	nop 0
	nop 0
	fma.d f2 = f5, f5, f2
	;;
	.mmf
	nop 0
	nop 0
	fadd.d f2 = f2, f17
	;;
	.mfb
	nop 0
	mov f8 = f2
	br.call.sptk.many b0 = sqrt#
	;;
	.mmf
	nop 0
	nop 0
	mov f9 = f3
	.mfi
	nop 0
	fmpy.d f8 = f2, f8
	mov r1 = r52
	;;
	.mmf
	nop 0
	nop 0
	frcpa.s0 f7, p6 = f9, f8
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f6 = f8, f7, f1
	;;
	.mfi
	nop 0
	(p6) fmpy.s1 f10 = f6, f6
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f6 = f7, f6, f7
	nop 0
	;;
	.mfi
	nop 0
	(p6) fmpy.s1 f11 = f10, f10
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f6 = f6, f10, f6
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f6 = f6, f11, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fmpy.d.s1 f10 = f9, f6
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f9 = f8, f10, f9
	;;
	.mfi
	nop 0
	(p6) fma.d.s0 f7 = f9, f6, f10
	nop 0
	.mmi
	ldfd f6 = [r36]
	nop 0
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fmpy.d f7 = f7, f16
	;;
	.mfi
	nop 0
	fma.d f5 = f5, f7, f6
	nop 0
	.mmi
	ldfd f6 = [r37]
	;;
	stfd [r36] = f5
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fma.d f4 = f4, f7, f6
	;;
	.mmi
	stfd [r37] = f4
	nop 0
	nop 0
.L26:
	.mmi
	adds r32 = 1, r32
	nop 0
	adds r34 = 8, r34
	.mmb
	adds r35 = 8, r35
	adds r33 = 8, r33
	br.cloop.sptk.few .L27
	.mmi
	adds r38 = 1, r38
	adds r39 = 8, r39
	nop 0
	.mmi
	adds r40 = 8, r40
	adds r36 = 8, r36
	adds r37 = 8, r37
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 4, r38
	(p7) br.cond.dptk .L31
	.mmi
	sub r16 = r49, r43
	mov r15 = r44
	mov r14 = r43
	;;
	.mii
	adds r16 = -8, r16
	nop 0
	;;
	shr.u r16 = r16, 3
	;;
	.mii
	nop 0
	mov ar.lc = r16
	nop 0
.L29:
	.mmi
	ldfd f9 = [r14], 8
	ldfd f8 = [r15], 8
	nop 0
	.mmi
	ldfd f7 = [r42], 8
	ldfd f6 = [r41], 8
	nop 0
	;;
	.mfi
	nop 0
	fma.d f7 = f7, f16, f9
	nop 0
	.mfi
	adds r17 = -8, r14
	fma.d f6 = f6, f16, f8
	adds r16 = -8, r15
	;;
	.mmi
	nop 0
	stfd [r17] = f7
	nop 0
	.mmb
	stfd [r16] = f6
	nop 0
	br.cloop.sptk.few .L29
	.mmi
	nop 0
	adds r45 = -1, r45
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r45
	(p7) br.cond.dptk .L25
	.mmi
	nop 0
	mov r32 = r0
	mov ar.lc = 3
	.mlx
	nop 0
	movl r33 = @gprel(.LC1)
	;;
	.mmi
	add r33 = r1, r33
	nop 0
	nop 0
	;;
.L30:
	.mmi
	mov r54 = r32
	ld8 r56 = [r48], 8
	mov r53 = r33
	.mmb
	adds r32 = 1, r32
	ld8 r55 = [r47], 8
	br.call.sptk.many b0 = printf#
	;;
	.mib
	nop 0
	mov r1 = r52
	br.cloop.sptk.few .L30
	.mlx
	nop 0
	movl r14 = 0xc008000000000000
	.mlx
	nop 0
	movl r15 = 0xc010000000000000
	;;
	.mlx
	setf.d f4 = r14
	movl r14 = 0xc00e000000000000
	.mlx
	setf.d f3 = r15
	movl r34 = @gprel(.LC2)
	;;
	.mmi
	setf.d f2 = r14
	nop 0
	mov ar.lc = 6
	.mlx
	add r34 = r1, r34
	movl r15 = 0x3ff4000000000000
	;;
	.mmi
	nop 0
	setf.d f16 = r15
	nop 0
	;;
	.mfb
	nop 0
	mov f8 = f2
	br.call.sptk.many b0 = to_long#
	;;
	.mfi
	nop 0
	mov f8 = f2
	nop 0
	.mmb
	mov r1 = r52
	mov r32 = r8
	br.call.sptk.many b0 = to_int#
	;;
	.mfi
	nop 0
	mov f8 = f2
	nop 0
	.mmb
	mov r33 = r8
	mov r1 = r52
	br.call.sptk.many b0 = choose.constprop.0#
	;;
	.mmf
	nop 0
	nop 0
	mov f5 = f8
	.mfi
	nop 0
	mov f8 = f2
	mov r1 = r52
	;;
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = compare.constprop.0#
	;;
	.mmi
	getf.d r54 = f2
	mov r1 = r52
	mov r60 = r8
	.mmi
	mov r56 = r33
	mov r55 = r32
	mov r53 = r34
	;;
	.mmi
	getf.d r58 = f4
	;;
	getf.d r59 = f5
	nop 0
	;;
	.mib
	getf.d r57 = f3
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mfb
	mov r1 = r52
	fadd.d f2 = f2, f16
	br.cloop.sptk.few .L45
.L49:
	.mlx
	nop 0
	movl r14 = 0x43e158e460913d00
	.mmi
	nop 0
	addl r32 = 1, r0
	nop 0
	;;
	.mib
	setf.d f8 = r14
	nop 0
	br.call.sptk.many b0 = to_ulong#
	;;
	.mlx
	nop 0
	movl r15 = 0x405ef9999999999a
	.mmi
	mov r1 = r52
	nop 0
	mov r33 = r8
	;;
	.mib
	setf.d f8 = r15
	nop 0
	br.call.sptk.many b0 = to_ulong#
	;;
	.mmi
	mov r1 = r52
	mov r55 = r8
	mov r54 = r33
	;;
	.mlx
	nop 0
	movl r53 = @gprel(.LC3)
	;;
	.mmi
	nop 0
	add r53 = r1, r53
	nop 0
	;;
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mlx
	mov r1 = r52
	movl r58 = 0x40056c6e7397f5ae
	.mlx
	nop 0
	movl r57 = 0x402afa9ba63dcf21
	;;
	.mlx
	nop 0
	movl r53 = @gprel(.LC4)
	.mlx
	nop 0
	movl r56 = 0x3ff40b512eb53d60
	;;
	.mlx
	add r53 = r1, r53
	movl r55 = 0x40285d6fd931e0bb
	.mlx
	nop 0
	movl r54 = 0x3fee5e14fe11418c
	;;
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mlx
	mov r1 = r52
	movl r57 = 0x404a2be0247739f2
	.mlx
	nop 0
	movl r56 = 0x40013c484138704f
	;;
	.mlx
	nop 0
	movl r53 = @gprel(.LC5)
	.mlx
	nop 0
	movl r55 = 0x40285d6fe0000000
	;;
	.mlx
	add r53 = r1, r53
	movl r54 = 0x3fee5e1500000000
	.mmb
	nop 0
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mfi
	mov r1 = r52
	mov f8 = f1
	mov ar.lc = 18
	;;
	.mlx
	nop 0
	movl r14 = @gprel(.LC6)
	;;
	.mmi
	nop 0
	add r14 = r1, r14
	nop 0
	;;
	.mmi
	ldfe f3 = [r14]
	nop 0
	nop 0
	;;
.L34:
	.mib
	nop 0
	sxt4 r14 = r32
	nop 0
	.mfi
	nop 0
	fmpy f7 = f8, f3
	adds r32 = 1, r32
	;;
	.mmi
	nop 0
	setf.sig f8 = r14
	nop 0
	;;
	.mfi
	nop 0
	fcvt.xf f10 = f8
	nop 0
	.mfi
	nop 0
	fcvt.xf f8 = f8
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	frcpa.s0 f6, p6 = f1, f10
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f11 = f10, f6, f1
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f12 = f6, f1
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f9 = f11, f11, f11
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f13 = f11, f11
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f14 = f10, f12, f1
	;;
	.mfi
	nop 0
	(p6) fma.s1 f13 = f13, f13, f11
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f9 = f6, f9, f6
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f9 = f9, f13, f6
	;;
	.mfi
	nop 0
	(p6) fma.s1 f11 = f14, f9, f12
	nop 0
	.mfi
	nop 0
	(p6) fnma.s1 f12 = f10, f9, f1
	nop 0
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f10 = f10, f11, f1
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f9 = f9, f12, f9
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s0 f6 = f10, f9, f11
	;;
	.mmf
	nop 0
	nop 0
	fadd f6 = f6, f1
	;;
	.mmf
	nop 0
	nop 0
	frcpa.s0 f9, p6 = f7, f6
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f11 = f6, f9, f1
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f12 = f7, f9
	nop 0
	;;
	.mfi
	nop 0
	(p6) fma.s1 f10 = f11, f11, f11
	nop 0
	.mfi
	nop 0
	(p6) fmpy.s1 f13 = f11, f11
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fnma.s1 f14 = f6, f12, f7
	;;
	.mfi
	nop 0
	(p6) fma.s1 f10 = f9, f10, f9
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f13 = f13, f13, f11
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s1 f10 = f10, f13, f9
	;;
	.mfi
	nop 0
	(p6) fma.s1 f11 = f14, f10, f12
	nop 0
	.mfi
	nop 0
	(p6) fnma.s1 f12 = f6, f10, f1
	nop 0
	;;
	.mfi
	nop 0
	(p6) fnma.s1 f7 = f6, f11, f7
	nop 0
	.mfi
	nop 0
	(p6) fma.s1 f10 = f10, f12, f10
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p6) fma.s0 f9 = f7, f10, f11
	;;
	.mfb
	nop 0
	mov f2 = f9
	br.call.sptk.many b0 = sqrtl#
	;;
	.mmi
	nop 0
	mov r1 = r52
	nop 0
	;;
	.mfb
	nop 0
	fadd f8 = f2, f8
	br.cloop.sptk.few .L34
	;;
	.mfi
	adds r14 = 176, r12
	fcvt.fx.trunc f6 = f8
	addl r33 = 1, r0
	.mlx
	mov r32 = r0
	movl r15 = -1085102592571150095
	;;
	.mlx
	stfe [r14] = f8
	movl r53 = @gprel(.LC8)
	.mlx
	setf.sig f4 = r15
	movl r15 = 0x49742400
	;;
	.mlx
	ld8 r55 = [r14]
	movl r14 = 5675921253449092805
	.mmi
	setf.s f2 = r15
	nop 0
	add r53 = r1, r53
	;;
	.mmi
	setf.sig f5 = r14
	nop 0
	adds r14 = 184, r12
	;;
	.mlx
	ld8 r56 = [r14]
	movl r14 = 0x3f000000
	.mmi
	nop 0
	getf.sig r58 = f6
	nop 0
	;;
	.mlx
	setf.s f3 = r14
	movl r14 = 0x41000000
	;;
	.mlx
	setf.s f17 = r14
	movl r14 = @gprel(.LC7)
	;;
	.mmi
	add r14 = r1, r14
	;;
	ldfe f6 = [r14]
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fcmp.gt p6, p7 = f8, f6
	;;
	.mmi
	nop 0
	(p6) addl r57 = 1, r0
	nop 0
	;;
	.mib
	(p7) mov r57 = r0
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	mov r1 = r52
	nop 0
	mov r54 = r0
	;;
	.mlx
	nop 0
	movl r53 = @gprel(.LC9)
	;;
	.mib
	add r53 = r1, r53
	nop 0
	br.call.sptk.many b0 = strtod#
	;;
	.mfi
	mov r1 = r52
	mov f16 = f8
	mov r54 = r0
	;;
	.mlx
	nop 0
	movl r53 = @gprel(.LC10)
	;;
	.mib
	add r53 = r1, r53
	nop 0
	br.call.sptk.many b0 = strtod#
	;;
	.mfi
	mov r1 = r52
	mov f18 = f8
	mov r54 = r0
	;;
	.mlx
	nop 0
	movl r53 = @gprel(.LC11)
	;;
	.mib
	add r53 = r1, r53
	nop 0
	br.call.sptk.many b0 = strtod#
	;;
	.mmi
	mov r1 = r52
	getf.d r56 = f8
	nop 0
	;;
	.mlx
	nop 0
	movl r53 = @gprel(.LC12)
	.mmi
	getf.d r54 = f16
	;;
	nop 0
	add r53 = r1, r53
	.mmb
	nop 0
	getf.d r55 = f18
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	mov r1 = r52
	nop 0
	addl r60 = 16383, r0
	.mlx
	adds r53 = 16, r12
	movl r59 = -4611686018427387904
	;;
	.mlx
	nop 0
	movl r14 = @gprel(.LC13)
	.mlx
	nop 0
	movl r58 = 0xbf40624dd2f1a9fc
	;;
	.mlx
	add r14 = r1, r14
	movl r57 = 0x54b249ad2594c37d
	.mlx
	addl r54 = 64, r0
	movl r56 = 0x40c81cd6e63a5c1c
	;;
	.mlx
	ldfe f6 = [r14]
	movl r55 = @gprel(.LC14)
	.mmi
	adds r14 = 192, r12
	;;
	add r55 = r1, r55
	nop 0
	;;
	.mib
	stfe [r14] = f6
	nop 0
	br.call.sptk.many b0 = snprintf#
	;;
	.mib
	mov r1 = r52
	adds r53 = 16, r12
	br.call.sptk.many b0 = puts#
	;;
	.mfi
	nop 0
	mov f8 = f1
	addl r15 = 19998, r0
	.mmi
	mov r1 = r52
	;;
	nop 0
	mov ar.lc = r15
	;;
	.mfi
	nop 0
	mov f16 = f8
	nop 0
	.align 32
.L36:
	.mmi
	addp4 r15 = r33, r0
	nop 0
	adds r33 = 1, r33
	;;
	.mmi
	setf.sig f6 = r15
	setf.sig f7 = r15
	nop 0
	;;
	.mfi
	nop 0
	xmpy.hu f6 = f6, f4
	nop 0
	.mfi
	nop 0
	xmpy.hu f7 = f7, f5
	nop 0
	;;
	.mmi
	getf.sig r14 = f6
	;;
	getf.sig r17 = f7
	nop 0
	;;
	.mii
	nop 0
	shr.u r16 = r14, 4
	and r14 = -16, r14
	;;
	.mii
	nop 0
	shr.u r17 = r17, 2
	add r14 = r14, r16
	;;
	.mmi
	sub r14 = r15, r14
	nop 0
	shladd r16 = r17, 1, r0
	;;
	.mmi
	add r16 = r16, r17
	nop 0
	adds r14 = 1, r14
	;;
	.mii
	nop 0
	sxt4 r14 = r14
	shladd r16 = r16, 2, r0
	;;
	.mii
	setf.sig f6 = r14
	add r16 = r16, r17
	;;
	sub r15 = r15, r16
	;;
	.mmi
	adds r15 = 1, r15
	;;
	nop 0
	sxt4 r15 = r15
	;;
	.mmi
	nop 0
	setf.sig f9 = r15
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f6 = f6
	;;
	.mfi
	nop 0
	fcvt.xf f9 = f9
	nop 0
	.mfi
	nop 0
	fnorm.s f6 = f6
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fnorm.s f9 = f9
	.mfb
	nop 0
	fmpy.s f8 = f6, f8
	br.call.sptk.many b0 = fdivide#
	;;
	.mfb
	nop 0
	fadd.s f8 = f8, f3
	nop 0
	.mii
	addl r14 = 8, r0
	shl r15 = r32, 5
	mov r1 = r52
	;;
	.mmi
	nop 0
	sub r32 = r15, r32
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fcmp.gt p6, p7 = f8, f2
	;;
	.mfi
	nop 0
	(p7) fmpy.s f6 = f8, f17
	nop 0
	.mfi
	nop 0
	(p6) mov f8 = f16
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p7) fcvt.fx.trunc f6 = f6
	;;
	.mmi
	nop 0
	(p7) getf.sig r14 = f6
	nop 0
	;;
	.mib
	nop 0
	add r32 = r32, r14
	br.cloop.sptk.few .L36
	;;
	.mlx
	nop 0
	movl r53 = @gprel(.LC15)
	.mmi
	nop 0
	mov r54 = r32
	nop 0
	;;
	.mib
	add r53 = r1, r53
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmb
	addl r8 = 1, r0
	mov r1 = r52
	nop 0
	.mmi
	adds r19 = 216, r12
	adds r20 = 224, r12
	mov b0 = r50
	;;
	.mmi
	nop 0
	ldf.fill f2 = [r20], 32
	mov ar.pfs = r51
	.mmi
	ld8 r21 = [r19], 24
	;;
	ldf.fill f3 = [r19], 32
	mov ar.lc = r21
	;;
	.mmi
	ldf.fill f4 = [r20], 32
	;;
	ldf.fill f5 = [r19], 32
	nop 0
	;;
	.mmi
	ldf.fill f16 = [r20], 32
	;;
	ldf.fill f17 = [r19]
	nop 0
	;;
	.mib
	ldf.fill f18 = [r20]
	.label_state 1
	.restore sp
	adds r12 = 320, r12
	br.ret.sptk.many b0
	;;
.L45:
	.body
	.copy_state 1
	.mfb
	nop 0
	mov f8 = f2
	br.call.sptk.many b0 = floor#
	;;
	.mmf
	mov r1 = r52
	nop 0
	mov f3 = f8
	.mfb
	nop 0
	mov f8 = f2
	br.call.sptk.many b0 = ceil#
	;;
	.mmf
	mov r1 = r52
	nop 0
	mov f4 = f8
	.mfb
	nop 0
	mov f8 = f2
	br.call.sptk.many b0 = to_long#
	;;
	.mfi
	nop 0
	mov f8 = f2
	nop 0
	.mmb
	mov r1 = r52
	mov r32 = r8
	br.call.sptk.many b0 = to_int#
	;;
	.mfi
	nop 0
	mov f8 = f2
	nop 0
	.mmb
	mov r33 = r8
	mov r1 = r52
	br.call.sptk.many b0 = choose.constprop.0#
	;;
	.mmf
	nop 0
	nop 0
	mov f5 = f8
	.mfi
	nop 0
	mov f8 = f2
	mov r1 = r52
	;;
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = compare.constprop.0#
	;;
	.mmi
	getf.d r54 = f2
	mov r1 = r52
	mov r60 = r8
	.mmi
	mov r56 = r33
	mov r55 = r32
	mov r53 = r34
	;;
	.mmi
	getf.d r58 = f4
	;;
	getf.d r59 = f5
	nop 0
	;;
	.mib
	getf.d r57 = f3
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mfb
	mov r1 = r52
	fadd.d f2 = f2, f16
	br.cloop.sptk.few .L45
	.mib
	nop 0
	nop 0
	br .L49
	.endp main#
	.section	.rodata
	.align 8
	.type	mass.0#, @object
	.size	mass.0#, 32
mass.0:
	data4	0
	data4	1076101120
	data4	0
	data4	1072693248
	data4	0
	data4	1071644672
	data4	0
	data4	1070596096
	.align 4
	.type	modes.1#, @object
	.size	modes.1#, 16
modes.1:
	data4	0
	data4	3
	data4	2
	data4	1
	.ident	"GCC: (GNU) 12.2.0"
