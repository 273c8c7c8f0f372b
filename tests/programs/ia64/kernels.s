	.file	"kernels.c"
	.pred.safe_across_calls p1-p5,p16-p63
	.text
	.align 16
	.align 64
	.proc crc#
crc:
	.prologue
	.mlx
	nop 0
	movl r22 = @gprel(crc_table#)
	.mlx
	nop 0
	movl r18 = 4294967296
	;;
	.mlx
	add r22 = r1, r22
	movl r21 = 8589934594
	.mlx
	nop 0
	movl r15 = 4294967297
	;;
	.mmi
	adds r14 = 4, r22
	mov r19 = r22
	.save ar.lc, r2
	mov r2 = ar.lc
	.body
	.mlx
	nop 0
	movl r16 = -1317158713555385568
	;;
	.mmi
	nop 0
	ld4 r14 = [r14]
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r14
	(p7) br.cond.dptk .L5
	.mii
	nop 0
	mov ar.lc = 127
	nop 0
	.align 32
.L2:
	.mii
	mov r14 = r18
	padd4 r18 = r18, r21
	;;
	and r17 = r15, r14
	;;
	.mii
	nop 0
	pshr4.u r14 = r14, 1
	;;
	pcmp4.eq r17 = r17, r0
	;;
	.mmi
	xor r20 = r16, r14
	;;
	and r14 = r14, r17
	andcm r17 = r20, r17
	;;
	.mmi
	or r14 = r17, r14
	;;
	and r17 = r15, r14
	nop 0
	;;
	.mii
	nop 0
	pshr4.u r14 = r14, 1
	;;
	pcmp4.eq r17 = r17, r0
	;;
	.mmi
	xor r20 = r16, r14
	;;
	and r14 = r14, r17
	andcm r17 = r20, r17
	;;
	.mmi
	or r14 = r17, r14
	;;
	and r17 = r15, r14
	nop 0
	;;
	.mii
	nop 0
	pshr4.u r14 = r14, 1
	;;
	pcmp4.eq r17 = r17, r0
	;;
	.mmi
	xor r20 = r16, r14
	;;
	and r14 = r14, r17
	andcm r17 = r20, r17
	;;
	.mmi
	or r14 = r17, r14
	;;
	and r17 = r15, r14
	nop 0
	;;
	.mii
	nop 0
	pshr4.u r14 = r14, 1
	;;
	pcmp4.eq r17 = r17, r0
	;;
	.mmi
	xor r20 = r16, r14
	;;
	and r14 = r14, r17
	andcm r17 = r20, r17
	;;
	.mmi
	or r14 = r17, r14
	;;
	and r17 = r15, r14
	nop 0
	;;
	.mii
	nop 0
	pshr4.u r14 = r14, 1
	;;
	pcmp4.eq r17 = r17, r0
	;;
	.mmi
	xor r20 = r16, r14
	;;
	and r14 = r14, r17
	andcm r17 = r20, r17
	;;
	.mmi
	or r14 = r17, r14
	;;
	and r17 = r15, r14
	nop 0
	;;
	.mii
	nop 0
	pshr4.u r14 = r14, 1
	;;
	pcmp4.eq r17 = r17, r0
	;;
	.mmi
	xor r20 = r16, r14
	;;
	and r14 = r14, r17
	andcm r17 = r20, r17
	;;
	.mmi
	or r14 = r17, r14
	;;
	and r17 = r15, r14
	nop 0
	;;
	.mii
	nop 0
	pshr4.u r14 = r14, 1
	;;
	pcmp4.eq r17 = r17, r0
	;;
	.mmi
	xor r20 = r16, r14
	;;
	and r14 = r14, r17
	andcm r17 = r20, r17
	;;
	.mmi
	or r14 = r17, r14
	;;
	and r17 = r15, r14
	nop 0
	;;
	.mii
	nop 0
	pshr4.u r14 = r14, 1
	;;
	pcmp4.eq r17 = r17, r0
	;;
	.mmi
	xor r20 = r16, r14
	;;
	and r14 = r14, r17
	andcm r17 = r20, r17
	;;
	.mmi
	nop 0
	or r14 = r17, r14
	nop 0
	;;
	.mib
	st8 [r19] = r14, 8
	nop 0
	br.cloop.sptk.few .L2
.L5:
	.mmi
	cmp.ne p6, p7 = 0, r33
	add r14 = r32, r33
	nop 0
	.mmb
	addl r16 = 255, r0
	addl r8 = -1, r0
	(p7) br.cond.dpnt .L4
	;;
	.mii
	(p6) sub r14 = r14, r32, 1
	nop 0
	;;
	(p6) mov ar.lc = r14
	.align 32
.L6:
	.mii
	ld1 r14 = [r32]
	extr.u r15 = r8, 8, 24
	adds r32 = 1, r32
	;;
	.mmi
	xor r14 = r8, r14
	;;
	and r14 = r16, r14
	nop 0
	;;
	.mmi
	addp4 r14 = r14, r0
	;;
	shladd r14 = r14, 2, r0
	nop 0
	;;
	.mmi
	add r14 = r22, r14
	;;
	ld4 r8 = [r14]
	nop 0
	;;
	.mib
	nop 0
	xor r8 = r8, r15
	br.cloop.sptk.few .L6
	;;
.L4:
	.mib
	andcm r8 = -1, r8
	mov ar.lc = r2
	br.ret.sptk.many b0
	.endp crc#
	.global __umoddi3#
	.align 16
	.align 64
	.proc sha256#
sha256:
	.prologue
	.mmb
	alloc r16 = ar.pfs, 8, 80, 8, 0
	adds r17 = -376, r12
	nop 0
	.mmi
	adds r18 = -368, r12
	.fframe 768
	adds r12 = -768, r12
	mov r20 = ar.lc
	;;
	.mmi
	mov r19 = ar.unat
	.savesp ar.pfs, 400
	st8 [r18] = r16, 16
	mov r21 = b0
	.mlx
	addl r43 = 2, r0
	movl r47 = @gprel(k.10#)
	;;
	.mmi
	add r47 = r1, r47
	mov r46 = r0
	mov r45 = r32
	.mlx
	mov r41 = r33
	movl r49 = 68719476736
	;;
	.mmi
	.savesp rp, 416
	st8 [r18] = r21, 16
	nop 0
	mov r48 = r34
	;;
	.mmi
	.save.g 0x1
	.mem.offset 336, 0
	st8.spill [r18] = r4, 16
	;;
	.save.g 0x4
	.mem.offset 320, 0
	st8.spill [r18] = r6, 16
	nop 0
	;;
	.mmi
	.save.f 0x1
	stf.spill [r18] = f2, 32
	;;
	.savesp ar.unat, 392
	st8 [r17] = r19, 16
	nop 0
	.mmi
	.save.f 0x4
	stf.spill [r18] = f4, 32
	;;
	.save.gf 0x0, 0x10
	stf.spill [r18] = f16, 32
	nop 0
	;;
	.mmi
	.save.gf 0x0, 0x40
	stf.spill [r18] = f18, 32
	;;
	.save.gf 0x0, 0x100
	stf.spill [r18] = f20, 32
	nop 0
	;;
	.mmi
	.save.gf 0x0, 0x400
	stf.spill [r18] = f22, 32
	;;
	.save.gf 0x0, 0x1000
	stf.spill [r18] = f24, 32
	nop 0
	;;
	.mmi
	.savesp ar.lc, 408
	st8 [r17] = r20, 16
	.save.gf 0x0, 0x4000
	stf.spill [r18] = f26, 32
	nop 0
	;;
	.mmi
	.mem.offset 344, 0
	st8.spill [r17] = r1, 16
	.save.gf 0x0, 0x10000
	stf.spill [r18] = f28, 32
	nop 0
	;;
	.mmi
	.save.g 0x2
	.mem.offset 328, 0
	st8.spill [r17] = r5, 16
	.save.gf 0x0, 0x40000
	stf.spill [r18] = f30
	nop 0
	;;
	.mmi
	.save.g 0x8
	.mem.offset 312, 0
	st8.spill [r17] = r7, 24
	;;
	.save.f 0x2
	stf.spill [r17] = f3, 32
	nop 0
	;;
	.mmi
	.save.f 0x8
	stf.spill [r17] = f5, 32
	;;
	.save.gf 0x0, 0x20
	stf.spill [r17] = f17, 32
	nop 0
	;;
	.mmi
	.save.gf 0x0, 0x80
	stf.spill [r17] = f19, 32
	;;
	.save.gf 0x0, 0x200
	stf.spill [r17] = f21, 32
	nop 0
	;;
	.mmi
	.save.gf 0x0, 0x800
	stf.spill [r17] = f23, 32
	;;
	.save.gf 0x0, 0x2000
	stf.spill [r17] = f25, 32
	nop 0
	;;
	.mmi
	.save.gf 0x0, 0x8000
	stf.spill [r17] = f27, 32
	;;
	.save.gf 0x0, 0x20000
	stf.spill [r17] = f29, 32
	nop 0
	;;
	.mmi
	ld4.a r14 = [r47]
	.save.gf 0x0, 0x80000
	stf.spill [r17] = f31
	.body
	nop 0
	;;
	.mmi
	nop 0
	ld4.c.clr r14 = [r47]
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r14
	(p7) br.cond.dptk .L14
	;;
.L13:
	.mmi
	addl r40 = 2, r0
	nop 0
	addl r42 = 1, r0
	.mmb
	addp4 r44 = r43, r0
	cmp4.ltu p6, p7 = 3, r43
	(p7) br.cond.dpnt .L17
	;;
	.align 32
.L16:
	.mmi
	addp4 r121 = r40, r0
	nop 0
	mov r120 = r44
	.mmb
	adds r40 = 1, r40
	nop 0
	br.call.sptk.many b0 = __umoddi3#
	;;
	.mmi
	setf.sig f6 = r40
	cmp4.ne p6, p7 = 0, r8
	adds r1 = 424, r12
	;;
	.mmi
	ld8 r1 = [r1]
	nop 0
	(p7) mov r42 = r0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.l f6 = f6, f6
	;;
	.mmi
	nop 0
	getf.sig r14 = f6
	nop 0
	;;
	.mib
	nop 0
	cmp4.leu p6, p7 = r14, r43
	(p6) br.cond.dptk .L16
	;;
	.mmi
	nop 0
	cmp4.ne p6, p7 = 0, r42
	nop 0
	;;
	.mib
	nop 0
	(p7) adds r43 = 1, r43
	(p7) br.cond.dptk .L13
.L17:
	.mmi
	mov r16 = r49
	nop 0
	mov r15 = r0
	.mmi
	addl r17 = 1, r0
	mov r18 = r0
	shl r19 = r44, 32
	;;
.L20:
	.mib
	add r14 = r16, r15
	cmp.ltu p6, p7 = r17, r16
	(p7) br.cond.dpnt .L44
	;;
	.align 32
.L22:
	.mii
	nop 0
	shr.u r14 = r14, 1
	nop 0
	;;
	.mmi
	nop 0
	setf.sig f6 = r14
	nop 0
	;;
	.mfi
	nop 0
	xmpy.l f10 = f6, f6
	nop 0
	.mfi
	nop 0
	xmpy.hu f11 = f6, f6
	nop 0
	;;
	.mfi
	nop 0
	xmpy.hu f9 = f10, f6
	nop 0
	.mfi
	nop 0
	xmpy.l f8 = f10, f6
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xma.l f9 = f6, f11, f9
	;;
	.mmi
	nop 0
	getf.sig r14 = f9
	nop 0
	;;
	.mib
	cmp.ltu p6, p7 = r19, r14
	nop 0
	(p6) br.cond.dpnt .L33
	;;
	.mib
	nop 0
	cmp.ne p6, p7 = r19, r14
	(p7) br.cond.dpnt .L45
.L31:
	.mmi
	getf.sig r15 = f6
	;;
	adds r17 = 1, r15
	add r14 = r16, r15
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r17, r16
	(p6) br.cond.dptk .L22
	;;
.L44:
	.mib
	nop 0
	sxt4 r14 = r46
	nop 0
	.mmi
	adds r16 = 1, r46
	cmp4.eq p6, p7 = 63, r46
	adds r43 = 1, r43
	;;
	.mii
	shladd r14 = r14, 2, r0
	mov r46 = r16
	;;
	add r14 = r47, r14
	;;
	.mib
	st4 [r14] = r15
	nop 0
	(p7) br.cond.dptk .L13
.L14:
	.mlx
	mov r49 = r48
	movl r14 = @gprel(start.9#)
	.mmi
	adds r15 = 72, r41
	adds r18 = 284, r12
	adds r19 = 292, r12
	;;
	.mmi
	add r14 = r1, r14
	adds r20 = 300, r12
	shr.u r65 = r15, 6
	.mmi
	setf.sig f29 = r18
	setf.sig f28 = r19
	adds r18 = 281, r12
	;;
	.mmi
	ld4 r16 = [r14], 4
	adds r19 = 285, r12
	shladd r21 = r41, 3, r0
	.mmi
	setf.sig f27 = r20
	adds r20 = 289, r12
	adds r78 = 276, r12
	;;
	.mmi
	st4 [r49] = r16, 4
	ld4 r17 = [r14], 4
	adds r51 = 352, r12
	.mmi
	setf.sig f24 = r18
	adds r18 = 301, r12
	mov r47 = r0
	;;
	.mmi
	mov r15 = r49
	ld4 r16 = [r14], 4
	adds r50 = 272, r12
	.mmi
	setf.sig f23 = r19
	setf.sig f22 = r20
	adds r19 = 274, r12
	;;
	.mmi
	st4 [r15] = r17, 4
	adds r20 = 278, r12
	adds r64 = 280, r12
	.mmi
	ld4 r17 = [r14], 4
	setf.sig f19 = r18
	adds r18 = 290, r12
	;;
	.mmi
	st4 [r15] = r16, 4
	setf.sig f18 = r19
	adds r19 = 294, r12
	.mmi
	ld4 r16 = [r14], 4
	adds r63 = 288, r12
	adds r62 = 296, r12
	;;
	.mmi
	setf.sig f17 = r20
	adds r20 = 298, r12
	adds r61 = 304, r12
	.mmi
	st4 [r15] = r17, 4
	ld4 r17 = [r14], 4
	adds r60 = 312, r12
	;;
	.mmi
	setf.sig f31 = r21
	setf.sig f30 = r78
	adds r21 = 273, r12
	.mmi
	adds r78 = 277, r12
	adds r59 = 320, r12
	adds r58 = 328, r12
	;;
	.mmi
	setf.sig f4 = r18
	setf.sig f3 = r19
	adds r7 = 302, r12
	.mmi
	adds r6 = 275, r12
	adds r5 = 279, r12
	adds r4 = 283, r12
	;;
	.mmi
	setf.sig f2 = r20
	st4 [r15] = r16, 4
	adds r119 = 287, r12
	.mmi
	ld4 r16 = [r14], 4
	adds r118 = 291, r12
	adds r117 = 295, r12
	;;
	.mmi
	setf.sig f26 = r21
	setf.sig f25 = r78
	adds r21 = 293, r12
	.mmi
	adds r78 = 297, r12
	ld4 r14 = [r14]
	adds r39 = 299, r12
	;;
	.mmi
	st4 [r15] = r17, 4
	setf.sig f21 = r21
	adds r21 = 282, r12
	.mmi
	adds r38 = 303, r12
	adds r37 = 308, r12
	adds r36 = 316, r12
	;;
	.mmi
	setf.sig f20 = r78
	adds r78 = 286, r12
	adds r35 = 324, r12
	.mmi
	setf.sig f16 = r21
	adds r21 = 368, r12
	adds r34 = 332, r12
	;;
	.mmi
	setf.sig f5 = r78
	st4 [r15] = r16, 4
	adds r78 = -1, r65
	.mmi
	adds r33 = 305, r12
	adds r32 = 309, r12
	adds r116 = 313, r12
	;;
	.mmi
	st4 [r15] = r14
	adds r115 = 317, r12
	adds r114 = 321, r12
	.mmi
	adds r113 = 325, r12
	adds r112 = 329, r12
	adds r111 = 333, r12
	;;
	.mmi
	adds r110 = 306, r12
	adds r109 = 310, r12
	adds r108 = 314, r12
	.mmi
	adds r107 = 318, r12
	adds r106 = 322, r12
	adds r105 = 326, r12
	;;
	.mmi
	adds r104 = 330, r12
	adds r103 = 334, r12
	adds r102 = 307, r12
	.mmi
	adds r101 = 311, r12
	adds r100 = 315, r12
	adds r99 = 319, r12
	;;
	.mmi
	adds r98 = 323, r12
	adds r97 = 327, r12
	adds r96 = 331, r12
	.mmi
	adds r95 = 335, r12
	adds r94 = 24, r12
	adds r93 = 32, r12
	;;
	.mmi
	adds r92 = 40, r12
	adds r91 = 48, r12
	adds r90 = 56, r12
	.mmi
	adds r89 = 64, r12
	adds r88 = 72, r12
	adds r87 = 188, r12
	;;
	.mmi
	adds r86 = 240, r12
	adds r85 = 220, r12
	adds r84 = 184, r12
	.mmi
	adds r83 = 248, r12
	adds r82 = 192, r12
	adds r81 = 244, r12
	;;
	.mmi
	adds r80 = 224, r12
	adds r79 = 252, r12
	adds r77 = 228, r12
	.mmi
	adds r74 = 232, r12
	adds r70 = 236, r12
	adds r40 = 336, r12
	;;
	.mmi
	adds r27 = 340, r12
	adds r44 = 344, r12
	adds r42 = 356, r12
	.mmi
	adds r43 = 360, r12
	adds r67 = 364, r12
	adds r57 = 8, r48
	;;
	.mmi
	adds r56 = 12, r48
	adds r55 = 16, r48
	adds r54 = 20, r48
	.mmi
	adds r53 = 24, r48
	adds r52 = 28, r48
	addl r46 = -128, r0
	;;
	.mmi
	nop 0
	st8 [r21] = r78
	mov r66 = r51
	.align 32
.L29:
	.mmi
	adds r16 = 368, r12
	st8 [r50] = r0
	mov r15 = r50
	.mmi
	st8 [r64] = r0
	addl r17 = 504, r0
	shl r14 = r47, 6
	;;
	.mmb
	ld8 r16 = [r16]
	st8 [r63] = r0
	nop 0
	.mmi
	st8 [r62] = r0
	nop 0
	mov ar.lc = 63
	;;
	.mmi
	cmp.eq p6, p7 = r47, r16
	st8 [r61] = r0
	mov r16 = r0
	.mmi
	nop 0
	st8 [r60] = r0
	nop 0
	;;
	.mmi
	(p6) addl r19 = 1, r0
	st8 [r59] = r0
	nop 0
	.mii
	st8 [r58] = r0
	nop 0
	;;
	(p7) mov r19 = r0
	.align 32
.L26:
	.mmi
	cmp.geu p6, p7 = r14, r41
	nop 0
	add r18 = r45, r14
	;;
	.mmi
	nop 0
	(p7) ld1 r18 = [r18]
	nop 0
	;;
	.mib
	(p7) st1 [r15] = r18
	nop 0
	(p7) br.cond.dptk .L24
	.mii
	cmp.ltu p8, p9 = 55, r16
	cmp.ne p6, p7 = r14, r41
	;;
	(p8) addl r18 = 1, r0
	.mmb
	(p7) st1 [r15] = r46
	nop 0
	(p7) br.cond.dpnt .L24
	;;
	.mmi
	(p9) mov r18 = r0
	;;
	and r18 = r18, r19
	nop 0
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r18
	;;
	(p7) getf.sig r20 = f31
	(p7) addp4 r18 = r17, r0
	;;
	.mii
	nop 0
	(p7) shr.u r18 = r20, r18
	nop 0
	;;
	.mmi
	(p7) st1 [r15] = r18
	nop 0
	nop 0
.L24:
	.mmi
	adds r16 = 1, r16
	nop 0
	adds r14 = 1, r14
	.mmb
	adds r15 = 1, r15
	adds r17 = -8, r17
	br.cloop.sptk.few .L26
	;;
	.mmb
	getf.sig r78 = f29
	mov r15 = r0
	nop 0
	.mmi
	ld1 r16 = [r50]
	ld1 r25 = [r64]
	mov ar.lc = 5
	;;
	.mmi
	getf.sig r21 = f30
	mov r18 = r15
	mov r14 = r15
	.mmi
	ld1 r24 = [r63]
	ld1 r125 = [r7]
	mov r19 = r15
	;;
	.mib
	nop 0
	dep r15 = r16, r15, 0, 8
	nop 0
	.mmi
	mov r17 = r18
	mov r16 = r18
	mov r22 = r18
	;;
	.mmi
	nop 0
	mov r23 = r18
	nop 0
	.mmi
	ld1 r121 = [r39]
	ld1 r123 = [r38]
	nop 0
	;;
	.mmi
	ld1 r72 = [r62]
	ld1 r68 = [r119]
	nop 0
	;;
	.mmi
	ld1 r28 = [r78]
	getf.sig r78 = f27
	nop 0
	;;
	.mmi
	ld1 r20 = [r21]
	getf.sig r21 = f28
	nop 0
	;;
	.mii
	nop 0
	dep r15 = r20, r15, 8, 8
	adds r20 = 20, r12
	;;
	.mii
	nop 0
	dep r15 = r25, r15, 16, 8
	;;
	dep r15 = r28, r15, 24, 8
	;;
	.mmi
	ld1 r11 = [r78]
	getf.sig r78 = f25
	dep r15 = r24, r15, 32, 8
	.mmi
	ld1 r24 = [r5]
	;;
	ld1 r31 = [r21]
	nop 0
	.mmi
	getf.sig r21 = f26
	;;
	nop 0
	dep r15 = r31, r15, 40, 8
	;;
	.mii
	nop 0
	dep r15 = r72, r15, 48, 8
	;;
	dep r15 = r11, r15, 56, 8
	;;
	.mmi
	ld1 r25 = [r78]
	getf.sig r78 = f23
	nop 0
	;;
	.mmi
	ld1 r30 = [r21]
	getf.sig r21 = f24
	nop 0
	;;
	.mii
	nop 0
	dep r18 = r30, r18, 0, 8
	;;
	dep r18 = r25, r18, 8, 8
	;;
	.mmi
	ld1 r29 = [r78]
	getf.sig r78 = f21
	nop 0
	;;
	.mmi
	ld1 r28 = [r21]
	getf.sig r21 = f22
	nop 0
	;;
	.mii
	nop 0
	dep r18 = r28, r18, 16, 8
	;;
	dep r18 = r29, r18, 24, 8
	;;
	.mmi
	ld1 r78 = [r78]
	;;
	setf.sig f34 = r78
	nop 0
	.mmi
	ld1 r30 = [r21]
	;;
	getf.sig r78 = f19
	dep r18 = r30, r18, 32, 8
	.mmi
	ld1 r30 = [r117]
	;;
	getf.sig r21 = f20
	nop 0
	;;
	.mmi
	ld1 r25 = [r78]
	getf.sig r78 = f17
	nop 0
	;;
	.mmi
	ld1 r71 = [r21]
	getf.sig r21 = f18
	nop 0
	;;
	.mmi
	ld1 r28 = [r78]
	getf.sig r78 = f5
	nop 0
	;;
	.mmi
	ld1 r120 = [r21]
	getf.sig r21 = f16
	nop 0
	;;
	.mii
	nop 0
	dep r16 = r120, r16, 0, 8
	;;
	dep r16 = r28, r16, 8, 8
	.mii
	ld1 r28 = [r6]
	nop 0
	;;
	dep r22 = r28, r22, 0, 8
	.mmi
	ld1 r28 = [r118]
	;;
	ld1 r78 = [r78]
	dep r22 = r24, r22, 8, 8
	;;
	.mmi
	setf.sig f33 = r78
	ld1 r29 = [r21]
	nop 0
	;;
	.mmi
	getf.sig r78 = f3
	nop 0
	dep r16 = r29, r16, 16, 8
	;;
	.mmi
	getf.sig r21 = f4
	;;
	ld1 r10 = [r78]
	nop 0
	.mmi
	ld1 r78 = [r4]
	;;
	setf.sig f32 = r78
	nop 0
	.mmi
	ld1 r69 = [r21]
	;;
	getf.sig r78 = f34
	nop 0
	;;
	.mii
	getf.sig r21 = f2
	nop 0
	;;
	dep r18 = r78, r18, 40, 8
	.mmi
	getf.sig r78 = f33
	;;
	ld1 r127 = [r21]
	dep r18 = r71, r18, 48, 8
	.mmi
	ld1 r29 = [r61]
	;;
	ld1 r21 = [r35]
	dep r14 = r29, r14, 0, 8
	.mmi
	nop 0
	ld1 r24 = [r33]
	nop 0
	;;
	.mmi
	setf.sig f15 = r21
	ld1 r120 = [r37]
	dep r19 = r24, r19, 0, 8
	.mmi
	ld1 r31 = [r32]
	;;
	ld1 r24 = [r60]
	dep r14 = r120, r14, 8, 8
	.mmi
	ld1 r29 = [r116]
	;;
	nop 0
	dep r16 = r78, r16, 24, 8
	.mmi
	getf.sig r78 = f32
	ld1 r8 = [r36]
	nop 0
	;;
	.mii
	nop 0
	dep r19 = r31, r19, 8, 8
	nop 0
	.mmi
	ld1 r126 = [r115]
	ld1 r120 = [r114]
	nop 0
	;;
	.mii
	nop 0
	dep r14 = r24, r14, 16, 8
	nop 0
	.mmi
	ld1 r24 = [r59]
	ld1 r122 = [r110]
	nop 0
	;;
	.mii
	nop 0
	dep r19 = r29, r19, 16, 8
	nop 0
	.mmi
	ld1 r31 = [r102]
	ld1 r76 = [r113]
	nop 0
	;;
	.mii
	nop 0
	dep r14 = r8, r14, 24, 8
	nop 0
	.mmi
	ld1 r21 = [r112]
	ld1 r26 = [r58]
	nop 0
	;;
	.mii
	nop 0
	dep r22 = r78, r22, 16, 8
	nop 0
	.mmi
	getf.sig r78 = f15
	ld1 r124 = [r109]
	nop 0
	;;
	.mii
	nop 0
	dep r19 = r126, r19, 24, 8
	nop 0
	.mmi
	ld1 r73 = [r100]
	ld1 r29 = [r108]
	nop 0
	;;
	.mii
	nop 0
	dep r14 = r24, r14, 32, 8
	nop 0
	.mmi
	ld1 r24 = [r111]
	ld1 r2 = [r99]
	nop 0
	;;
	.mii
	nop 0
	dep r19 = r120, r19, 32, 8
	nop 0
	.mmi
	ld1 r8 = [r98]
	ld1 r75 = [r107]
	nop 0
	;;
	.mii
	nop 0
	dep r17 = r122, r17, 0, 8
	nop 0
	.mmi
	ld1 r122 = [r101]
	ld1 r3 = [r106]
	nop 0
	;;
	.mii
	nop 0
	dep r23 = r31, r23, 0, 8
	nop 0
	.mmi
	ld1 r31 = [r34]
	ld1 r9 = [r105]
	nop 0
	;;
	.mii
	nop 0
	dep r14 = r78, r14, 40, 8
	nop 0
	.mmi
	ld1 r126 = [r104]
	ld1 r120 = [r103]
	nop 0
	;;
	.mii
	nop 0
	dep r19 = r76, r19, 40, 8
	;;
	dep r23 = r122, r23, 8, 8
	.mii
	ld1 r122 = [r95]
	nop 0
	;;
	dep r19 = r21, r19, 48, 8
	.mmi
	adds r21 = 16, r12
	;;
	nop 0
	dep r22 = r68, r22, 24, 8
	;;
	.mii
	nop 0
	dep r14 = r26, r14, 48, 8
	;;
	dep r14 = r31, r14, 56, 8
	;;
	.mii
	nop 0
	dep r19 = r24, r19, 56, 8
	unpack1.l r24 = r0, r14
	;;
	.mii
	nop 0
	dep r17 = r124, r17, 8, 8
	unpack1.h r14 = r0, r14
	.mmi
	ld1 r124 = [r96]
	;;
	nop 0
	dep r22 = r28, r22, 32, 8
	.mii
	nop 0
	unpack1.l r28 = r0, r19
	;;
	dep r23 = r73, r23, 16, 8
	.mii
	nop 0
	unpack1.h r19 = r0, r19
	;;
	dep r17 = r29, r17, 16, 8
	.mmi
	ld1 r29 = [r97]
	;;
	nop 0
	dep r23 = r2, r23, 24, 8
	;;
	.mii
	nop 0
	dep r22 = r30, r22, 40, 8
	;;
	dep r16 = r69, r16, 32, 8
	;;
	.mii
	nop 0
	dep r18 = r25, r18, 56, 8
	unpack1.l r25 = r0, r15
	;;
	.mii
	nop 0
	dep r23 = r8, r23, 32, 8
	unpack1.l r31 = r0, r18
	;;
	.mii
	nop 0
	dep r22 = r121, r22, 48, 8
	unpack2.l r8 = r0, r28
	;;
	.mii
	nop 0
	dep r17 = r75, r17, 24, 8
	unpack2.l r30 = r0, r25
	;;
	.mii
	nop 0
	dep r16 = r10, r16, 40, 8
	pshl4 r8 = r8, 16
	;;
	.mii
	nop 0
	dep r22 = r123, r22, 56, 8
	unpack2.h r123 = r0, r28
	;;
	.mii
	nop 0
	dep r16 = r127, r16, 48, 8
	unpack2.l r28 = r0, r14
	;;
	.mii
	nop 0
	unpack2.l r127 = r0, r19
	unpack2.h r14 = r0, r14
	;;
	.mii
	nop 0
	dep r23 = r29, r23, 40, 8
	unpack2.l r29 = r0, r24
	;;
	.mii
	nop 0
	dep r17 = r3, r17, 32, 8
	pshl4 r127 = r127, 16
	;;
	.mii
	nop 0
	dep r17 = r9, r17, 40, 8
	unpack2.h r24 = r0, r24
	;;
	.mii
	nop 0
	dep r23 = r124, r23, 48, 8
	unpack2.l r9 = r0, r31
	;;
	.mii
	nop 0
	dep r23 = r122, r23, 56, 8
	pshl4 r29 = r29, 24
	;;
	.mii
	nop 0
	dep r17 = r126, r17, 48, 8
	pshl4 r28 = r28, 24
	;;
	.mii
	nop 0
	dep r16 = r125, r16, 56, 8
	unpack2.h r122 = r0, r31
	;;
	.mii
	nop 0
	unpack1.l r125 = r0, r23
	unpack2.h r19 = r0, r19
	.mmb
	nop 0
	or r29 = r8, r29
	nop 0
	;;
	.mii
	nop 0
	dep r17 = r120, r17, 56, 8
	unpack1.h r23 = r0, r23
	.mmb
	nop 0
	or r28 = r127, r28
	nop 0
	;;
	.mii
	nop 0
	unpack2.h r25 = r0, r25
	unpack1.l r120 = r0, r16
	;;
	.mii
	nop 0
	unpack1.l r121 = r0, r17
	pshl4 r9 = r9, 16
	;;
	.mii
	nop 0
	pshl4 r123 = r123, 16
	unpack1.h r17 = r0, r17
	;;
	.mii
	nop 0
	pshl4 r30 = r30, 24
	pshl4 r24 = r24, 24
	;;
	.mii
	nop 0
	unpack1.l r124 = r0, r22
	unpack1.h r15 = r0, r15
	;;
	.mii
	nop 0
	unpack1.h r18 = r0, r18
	pshl4 r19 = r19, 16
	;;
	.mii
	nop 0
	unpack2.l r8 = r0, r125
	unpack2.l r127 = r0, r23
	.mmb
	or r24 = r123, r24
	or r30 = r9, r30
	nop 0
	;;
	.mii
	nop 0
	unpack2.h r125 = r0, r125
	pshl4 r122 = r122, 16
	;;
	.mii
	nop 0
	pshl4 r14 = r14, 24
	pshl4 r25 = r25, 24
	;;
	.mii
	nop 0
	pshl2 r120 = r120, 8
	pshl2 r17 = r17, 8
	.mmb
	nop 0
	or r29 = r8, r29
	nop 0
	;;
	.mii
	nop 0
	unpack2.l r31 = r0, r15
	unpack2.l r126 = r0, r18
	;;
	.mii
	nop 0
	unpack2.l r9 = r0, r124
	unpack1.h r16 = r0, r16
	.mmb
	or r14 = r19, r14
	or r25 = r122, r25
	nop 0
	;;
	.mii
	nop 0
	unpack2.h r15 = r0, r15
	unpack2.h r18 = r0, r18
	.mmb
	or r19 = r125, r24
	or r24 = r127, r28
	nop 0
	;;
	.mii
	nop 0
	unpack2.l r122 = r0, r17
	unpack1.h r22 = r0, r22
	;;
	.mii
	nop 0
	unpack2.l r28 = r0, r120
	pshl2 r121 = r121, 8
	.mmb
	nop 0
	or r30 = r9, r30
	nop 0
	;;
	.mii
	nop 0
	pshl2 r16 = r16, 8
	unpack2.h r23 = r0, r23
	;;
	.mii
	nop 0
	pshl4 r18 = r18, 16
	pshl4 r31 = r31, 24
	.mmb
	nop 0
	or r24 = r122, r24
	nop 0
	;;
	.mii
	nop 0
	pshl4 r126 = r126, 16
	pshl4 r15 = r15, 24
	.mmb
	nop 0
	or r28 = r28, r30
	nop 0
	;;
	.mii
	nop 0
	unpack2.h r17 = r0, r17
	unpack2.l r123 = r0, r22
	.mmb
	or r14 = r23, r14
	st8 [r21] = r28
	nop 0
	;;
	.mii
	nop 0
	unpack2.h r124 = r0, r124
	unpack2.h r22 = r0, r22
	.mmb
	nop 0
	st8 [r89] = r24
	nop 0
	;;
	.mii
	nop 0
	unpack2.h r30 = r0, r120
	unpack2.l r125 = r0, r121
	.mmb
	or r15 = r18, r15
	or r31 = r126, r31
	nop 0
	;;
	.mii
	nop 0
	unpack2.l r122 = r0, r16
	unpack2.h r121 = r0, r121
	.mmb
	or r14 = r17, r14
	or r31 = r123, r31
	nop 0
	;;
	.mmi
	or r17 = r124, r25
	or r15 = r22, r15
	extr.u r23 = r24, 32, 32
	.mmi
	mov r120 = r28
	st8 [r88] = r14
	unpack2.h r16 = r0, r16
	;;
	.mmi
	or r125 = r125, r29
	or r17 = r30, r17
	mov r30 = r14
	;;
	.mmi
	or r18 = r121, r19
	or r122 = r122, r31
	extr.u r11 = r125, 32, 32
	.mmi
	st8 [r94] = r17
	st8 [r91] = r125
	mov r31 = r24
	;;
	.mii
	or r15 = r16, r15
	extr.u r2 = r18, 32, 32
	mov r28 = r18
	.mmb
	st8 [r93] = r122
	st8 [r90] = r18
	nop 0
	;;
	.mii
	nop 0
	extr.u r16 = r14, 32, 32
	nop 0
	.mmi
	st8 [r92] = r15
	nop 0
	nop 0
.L27:
	.mmi
	ld4 r14 = [r20]
	adds r126 = 4, r20
	mix4.r r15 = r30, r30
	.mmi
	adds r127 = 60, r20
	adds r124 = 8, r20
	mix4.r r17 = r30, r30
	;;
	.mmi
	adds r125 = 64, r20
	adds r122 = 12, r20
	mix4.r r8 = r16, r16
	.mmi
	adds r123 = 68, r20
	adds r121 = 16, r20
	mix4.r r3 = r16, r16
	;;
	.mmi
	adds r24 = 20, r20
	adds r29 = 72, r20
	mix4.r r10 = r14, r14
	.mmi
	adds r25 = 76, r20
	adds r19 = 24, r20
	mix4.r r18 = r14, r14
	;;
	.mii
	nop 0
	shr.u r17 = r17, 19
	shr.u r15 = r15, 17
	.mmb
	nop 0
	adds r22 = 80, r20
	nop 0
	;;
	.mii
	nop 0
	shr.u r18 = r18, 18
	shr.u r10 = r10, 7
	.mmi
	xor r15 = r17, r15
	;;
	nop 0
	extr.u r9 = r30, 10, 22
	.mmi
	xor r10 = r18, r10
	adds r18 = 84, r20
	shr.u r8 = r8, 19
	;;
	.mii
	nop 0
	extr.u r17 = r14, 3, 29
	shr.u r3 = r3, 17
	.mmb
	xor r9 = r15, r9
	adds r20 = 28, r20
	nop 0
	;;
	.mii
	nop 0
	extr.u r15 = r16, 10, 22
	xor r8 = r3, r8
	.mmi
	xor r17 = r10, r17
	;;
	add r17 = r17, r9
	xor r15 = r8, r15
	;;
	.mmi
	nop 0
	add r17 = r17, r120
	add r15 = r14, r15
	.mmi
	ld4 r14 = [r126]
	;;
	add r11 = r11, r17
	extr.u r126 = r14, 3, 29
	;;
	.mib
	nop 0
	mix4.r r9 = r14, r14
	nop 0
	.mii
	st4 [r127] = r11
	mix4.r r127 = r14, r14
	;;
	extr.u r17 = r11, 10, 22
	;;
	.mii
	nop 0
	shr.u r9 = r9, 7
	shr.u r127 = r127, 18
	;;
	.mii
	xor r127 = r9, r127
	mix4.r r120 = r11, r11
	mix4.r r8 = r11, r11
	;;
	.mmi
	nop 0
	xor r126 = r127, r126
	nop 0
	;;
	.mii
	add r15 = r15, r126
	shr.u r8 = r8, 17
	shr.u r120 = r120, 19
	;;
	.mmi
	add r28 = r28, r15
	ld4 r15 = [r124]
	xor r120 = r8, r120
	;;
	.mii
	st4 [r125] = r28
	extr.u r125 = r15, 3, 29
	xor r17 = r120, r17
	;;
	.mii
	nop 0
	mix4.r r8 = r15, r15
	mix4.r r126 = r15, r15
	;;
	.mii
	nop 0
	mix4.r r124 = r28, r28
	mix4.r r127 = r28, r28
	;;
	.mii
	nop 0
	shr.u r8 = r8, 7
	shr.u r126 = r126, 18
	;;
	.mii
	xor r126 = r8, r126
	shr.u r124 = r124, 19
	shr.u r127 = r127, 17
	;;
	.mmi
	xor r125 = r126, r125
	xor r124 = r127, r124
	extr.u r120 = r28, 10, 22
	;;
	.mii
	add r14 = r14, r125
	xor r120 = r124, r120
	;;
	add r14 = r14, r17
	;;
	.mmi
	add r2 = r2, r14
	ld4 r14 = [r122]
	nop 0
	;;
	.mmi
	st4 [r123] = r2
	nop 0
	extr.u r123 = r14, 3, 29
	;;
	.mii
	nop 0
	mix4.r r126 = r14, r14
	mix4.r r124 = r14, r14
	;;
	.mii
	nop 0
	mix4.r r122 = r2, r2
	mix4.r r125 = r2, r2
	;;
	.mii
	nop 0
	shr.u r126 = r126, 7
	shr.u r124 = r124, 18
	;;
	.mii
	xor r124 = r126, r124
	shr.u r122 = r122, 17
	shr.u r125 = r125, 19
	;;
	.mmi
	xor r123 = r124, r123
	xor r122 = r125, r122
	extr.u r17 = r2, 10, 22
	;;
	.mii
	add r15 = r15, r123
	xor r17 = r122, r17
	;;
	add r15 = r15, r120
	;;
	.mmi
	add r31 = r31, r15
	ld4 r15 = [r121]
	nop 0
	;;
	.mii
	nop 0
	extr.u r121 = r15, 3, 29
	nop 0
	.mmi
	st4 [r29] = r31
	nop 0
	nop 0
	;;
	.mii
	nop 0
	mix4.r r124 = r15, r15
	mix4.r r122 = r15, r15
	;;
	.mii
	nop 0
	mix4.r r120 = r31, r31
	mix4.r r123 = r31, r31
	;;
	.mii
	nop 0
	shr.u r124 = r124, 7
	shr.u r122 = r122, 18
	;;
	.mii
	xor r122 = r124, r122
	shr.u r120 = r120, 17
	shr.u r123 = r123, 19
	;;
	.mmi
	xor r121 = r122, r121
	xor r120 = r123, r120
	extr.u r29 = r31, 10, 22
	;;
	.mii
	add r14 = r14, r121
	xor r29 = r120, r29
	;;
	add r14 = r14, r17
	;;
	.mmi
	add r23 = r23, r14
	ld4 r14 = [r24]
	nop 0
	;;
	.mmi
	st4 [r25] = r23
	nop 0
	extr.u r25 = r14, 3, 29
	;;
	.mii
	nop 0
	mix4.r r120 = r14, r14
	mix4.r r122 = r14, r14
	;;
	.mii
	nop 0
	mix4.r r24 = r23, r23
	mix4.r r121 = r23, r23
	;;
	.mii
	nop 0
	shr.u r120 = r120, 7
	shr.u r122 = r122, 18
	;;
	.mii
	xor r120 = r122, r120
	shr.u r24 = r24, 17
	shr.u r121 = r121, 19
	;;
	.mmi
	xor r25 = r120, r25
	ld4 r120 = [r19]
	extr.u r17 = r23, 10, 22
	.mmi
	xor r24 = r121, r24
	;;
	add r15 = r15, r25
	xor r17 = r24, r17
	;;
	.mii
	add r30 = r15, r30
	extr.u r15 = r120, 3, 29
	mix4.r r19 = r120, r120
	;;
	.mmi
	nop 0
	add r30 = r30, r29
	nop 0
	;;
	.mii
	st4 [r22] = r30
	mix4.r r22 = r120, r120
	shr.u r19 = r19, 7
	;;
	.mii
	nop 0
	shr.u r22 = r22, 18
	;;
	xor r19 = r22, r19
	;;
	.mmi
	xor r15 = r19, r15
	;;
	add r14 = r14, r15
	nop 0
	;;
	.mmi
	add r16 = r14, r16
	;;
	add r16 = r16, r17
	nop 0
	;;
	.mib
	st4 [r18] = r16
	nop 0
	br.cloop.sptk.few .L27
	.mmi
	ld4 r16 = [r87]
	adds r21 = 196, r12
	adds r78 = 200, r12
	.mlx
	mov r15 = r49
	movl r75 = @gprel(k.10#)
	;;
	.mmb
	ld4 r18 = [r86]
	adds r76 = 16, r12
	nop 0
	.mmi
	add r75 = r1, r75
	ld4 r14 = [r82]
	mov ar.lc = 63
	;;
	.mii
	nop 0
	mix4.r r20 = r16, r16
	mix4.r r28 = r16, r16
	.mmb
	ld4 r22 = [r81]
	ld4 r17 = [r85]
	nop 0
	;;
	.mii
	nop 0
	mix4.r r120 = r18, r18
	mix4.r r121 = r18, r18
	.mmb
	ld4 r19 = [r84]
	ld4 r25 = [r80]
	nop 0
	;;
	.mii
	nop 0
	shr.u r20 = r20, 7
	shr.u r28 = r28, 18
	.mmb
	ld4 r122 = [r77]
	ld4 r10 = [r70]
	nop 0
	;;
	.mii
	nop 0
	shr.u r121 = r121, 17
	shr.u r120 = r120, 19
	.mmb
	xor r28 = r20, r28
	add r20 = r17, r19
	nop 0
	;;
	.mii
	xor r120 = r121, r120
	mix4.r r29 = r14, r14
	mix4.r r31 = r14, r14
	.mmb
	ld4 r19 = [r78]
	adds r78 = 204, r12
	nop 0
	;;
	.mib
	nop 0
	extr.u r121 = r16, 3, 29
	nop 0
	.mmi
	add r16 = r16, r25
	ld4 r25 = [r21]
	mix4.r r30 = r22, r22
	;;
	.mii
	xor r121 = r28, r121
	extr.u r28 = r18, 10, 22
	mix4.r r17 = r22, r22
	.mmb
	adds r21 = 208, r12
	ld4 r127 = [r15], 4
	nop 0
	;;
	.mmi
	nop 0
	xor r28 = r120, r28
	shr.u r31 = r31, 18
	.mmi
	add r20 = r20, r121
	ld4 r126 = [r15], 4
	shr.u r29 = r29, 7
	;;
	.mmi
	add r20 = r20, r28
	xor r29 = r31, r29
	mix4.r r124 = r25, r25
	.mmi
	ld4 r28 = [r21]
	adds r21 = 264, r12
	mix4.r r31 = r25, r25
	;;
	.mii
	nop 0
	shr.u r17 = r17, 19
	shr.u r30 = r30, 17
	.mmi
	st4 [r83] = r20
	;;
	nop 0
	extr.u r121 = r14, 3, 29
	.mmi
	xor r30 = r17, r30
	add r14 = r14, r122
	shr.u r124 = r124, 18
	;;
	.mii
	xor r121 = r29, r121
	shr.u r31 = r31, 7
	mix4.r r122 = r20, r20
	.mmi
	ld4 r17 = [r74]
	;;
	nop 0
	extr.u r29 = r22, 10, 22
	.mmi
	xor r31 = r124, r31
	add r16 = r16, r121
	mix4.r r124 = r20, r20
	;;
	.mmi
	nop 0
	xor r29 = r30, r29
	shr.u r122 = r122, 17
	.mmi
	ld4 r22 = [r78]
	add r17 = r25, r17
	mix4.r r123 = r19, r19
	;;
	.mii
	add r16 = r16, r29
	shr.u r124 = r124, 19
	mix4.r r125 = r19, r19
	.mmb
	add r18 = r18, r22
	adds r78 = 348, r12
	nop 0
	;;
	.mii
	xor r122 = r124, r122
	extr.u r29 = r20, 10, 22
	mix4.r r120 = r22, r22
	.mmb
	st4 [r79] = r16
	adds r20 = 260, r12
	nop 0
	;;
	.mib
	nop 0
	extr.u r25 = r25, 3, 29
	nop 0
	.mmi
	xor r29 = r122, r29
	nop 0
	mix4.r r9 = r22, r22
	;;
	.mii
	xor r25 = r31, r25
	mix4.r r122 = r16, r16
	mix4.r r31 = r16, r16
	.mmb
	nop 0
	add r14 = r14, r29
	nop 0
	;;
	.mii
	nop 0
	shr.u r125 = r125, 18
	shr.u r123 = r123, 7
	.mmb
	nop 0
	add r14 = r14, r25
	nop 0
	;;
	.mii
	xor r123 = r125, r123
	extr.u r121 = r19, 3, 29
	shr.u r31 = r31, 17
	.mmb
	add r19 = r19, r10
	ld4 r125 = [r15], 4
	nop 0
	;;
	.mib
	nop 0
	shr.u r122 = r122, 19
	nop 0
	.mmi
	xor r121 = r123, r121
	ld4 r124 = [r15], 4
	shr.u r120 = r120, 7
	;;
	.mii
	nop 0
	extr.u r29 = r16, 10, 22
	shr.u r9 = r9, 18
	.mmb
	xor r31 = r122, r31
	add r17 = r17, r121
	nop 0
	;;
	.mmi
	xor r120 = r9, r120
	xor r29 = r31, r29
	extr.u r22 = r22, 3, 29
	.mmi
	adds r16 = 256, r12
	ld4 r123 = [r48]
	mix4.r r8 = r28, r28
	;;
	.mmi
	add r17 = r17, r29
	xor r22 = r120, r22
	extr.u r25 = r14, 10, 22
	.mmi
	st4 [r16] = r14
	st4 [r40] = r123
	mix4.r r30 = r28, r28
	;;
	.mmi
	add r19 = r19, r22
	st4 [r20] = r17
	mix4.r r22 = r14, r14
	.mmi
	st4 [r27] = r127
	ld4 r121 = [r15], 4
	mix4.r r14 = r14, r14
	;;
	.mii
	nop 0
	extr.u r16 = r17, 10, 22
	shr.u r8 = r8, 7
	.mmb
	st4 [r44] = r126
	st4 [r78] = r125
	nop 0
	;;
	.mii
	nop 0
	mix4.r r20 = r17, r17
	shr.u r22 = r22, 17
	.mmb
	adds r78 = 268, r12
	st4 [r51] = r124
	nop 0
	;;
	.mii
	nop 0
	mix4.r r17 = r17, r17
	shr.u r14 = r14, 19
	.mmb
	st4 [r42] = r121
	mov r51 = r66
	nop 0
	;;
	.mib
	nop 0
	shr.u r30 = r30, 18
	nop 0
	.mmi
	xor r14 = r14, r22
	nop 0
	shr.u r20 = r20, 17
	;;
	.mii
	xor r30 = r8, r30
	extr.u r28 = r28, 3, 29
	shr.u r17 = r17, 19
	.mmb
	nop 0
	xor r14 = r14, r25
	nop 0
	;;
	.mmi
	add r14 = r19, r14
	xor r28 = r30, r28
	xor r17 = r17, r20
	;;
	.mmi
	st4 [r21] = r14
	add r18 = r18, r28
	xor r14 = r17, r16
	;;
	.mmi
	add r14 = r18, r14
	;;
	st4 [r78] = r14
	nop 0
	.mmi
	ld4 r16 = [r15], 4
	ld4 r14 = [r66]
	nop 0
	;;
	.mmi
	ld4 r15 = [r15]
	st4 [r43] = r16
	nop 0
	.mmi
	ld4 r73 = [r40]
	;;
	st4 [r67] = r15
	nop 0
	.align 32
.L28:
	.mmi
	ld4 r19 = [r76], 4
	andcm r16 = -1, r14
	mix4.r r20 = r14, r14
	.mmi
	mov r120 = r27
	addl r122 = 28, r0
	mix4.r r18 = r14, r14
	;;
	.mib
	nop 0
	mix4.r r28 = r14, r14
	nop 0
	.mmi
	ld4 r15 = [r75], 4
	ld4 r69 = [r42]
	mov r121 = r40
	;;
	.mii
	nop 0
	shr.u r20 = r20, 11
	shr.u r18 = r18, 6
	.mmb
	ld4 r68 = [r43]
	add r15 = r15, r19
	nop 0
	;;
	.mib
	nop 0
	shr.u r28 = r28, 25
	nop 0
	.mmi
	xor r18 = r20, r18
	ld4 r19 = [r67]
	and r16 = r68, r16
	;;
	.mmi
	xor r18 = r28, r18
	add r15 = r15, r19
	and r14 = r14, r69
	.mmi
	ld4 r72 = [r27]
	ld4 r71 = [r44]
	nop 0
	;;
	.mmi
	xor r14 = r14, r16
	nop 0
	add r15 = r15, r18
	;;
	.mib
	add r78 = r15, r14
	nop 0
	br.call.sptk.many b0 = memmove#
	;;
	.mmi
	xor r17 = r71, r72
	and r29 = r71, r72
	mix4.r r14 = r73, r73
	.mmi
	adds r1 = 424, r12
	mov r27 = r8
	mix4.r r16 = r73, r73
	;;
	.mii
	nop 0
	mix4.r r28 = r73, r73
	and r17 = r73, r17
	.mmb
	nop 0
	ld8 r1 = [r1]
	nop 0
	;;
	.mii
	nop 0
	shr.u r14 = r14, 13
	shr.u r16 = r16, 2
	.mmi
	xor r17 = r29, r17
	;;
	xor r16 = r14, r16
	shr.u r28 = r28, 22
	.mmi
	ld4 r14 = [r66]
	;;
	xor r16 = r28, r16
	add r14 = r78, r14
	;;
	.mmi
	add r16 = r16, r17
	st4 [r66] = r14
	nop 0
	;;
	.mmi
	nop 0
	add r73 = r16, r78
	nop 0
	;;
	.mib
	st4 [r40] = r73
	nop 0
	br.cloop.sptk.few .L28
	.mmi
	nop 0
	ld4 r15 = [r48]
	adds r47 = 1, r47
	.mmi
	nop 0
	ld4 r18 = [r8]
	nop 0
	;;
	.mmi
	add r15 = r15, r73
	ld4 r16 = [r42]
	cmp.ne p6, p7 = r47, r65
	;;
	.mmi
	st4 [r48] = r15
	;;
	ld4 r15 = [r49]
	nop 0
	;;
	.mmi
	add r15 = r15, r18
	;;
	st4 [r49] = r15
	nop 0
	;;
	.mmi
	ld4 r15 = [r57]
	;;
	add r15 = r15, r72
	nop 0
	;;
	.mmi
	st4 [r57] = r15
	;;
	ld4 r15 = [r56]
	nop 0
	;;
	.mmi
	add r15 = r15, r71
	;;
	st4 [r56] = r15
	nop 0
	;;
	.mii
	ld4 r15 = [r55]
	nop 0
	;;
	add r15 = r15, r14
	.mmi
	ld4.a r14 = [r54]
	;;
	st4 [r55] = r15
	nop 0
	;;
	.mmi
	ld4.c.clr r14 = [r54]
	;;
	add r14 = r14, r16
	nop 0
	;;
	.mmi
	st4 [r54] = r14
	;;
	ld4 r14 = [r53]
	nop 0
	;;
	.mmi
	add r14 = r14, r69
	;;
	st4 [r53] = r14
	nop 0
	;;
	.mmi
	ld4 r14 = [r52]
	;;
	add r14 = r14, r68
	nop 0
	;;
	.mib
	st4 [r52] = r14
	nop 0
	(p6) br.cond.dptk .L29
	.mmi
	adds r22 = 392, r12
	nop 0
	adds r23 = 400, r12
	;;
	.mmi
	ld8 r24 = [r22], 16
	ld8 r25 = [r23], 16
	nop 0
	;;
	.mmi
	nop 0
	ld8 r26 = [r22], 24
	mov ar.pfs = r25
	.mmi
	ld8 r27 = [r23], 24
	;;
	.mem.offset 336, 0
	ld8.fill r4 = [r22], 16
	mov b0 = r27
	.mmi
	.mem.offset 328, 0
	ld8.fill r5 = [r23], 16
	;;
	.mem.offset 320, 0
	ld8.fill r6 = [r22], 16
	mov ar.lc = r26
	.mmi
	.mem.offset 312, 0
	ld8.fill r7 = [r23], 24
	mov ar.unat = r24
	nop 0
	;;
	.mmi
	ldf.fill f2 = [r22], 32
	ldf.fill f3 = [r23], 32
	nop 0
	;;
	.mmi
	ldf.fill f4 = [r22], 32
	ldf.fill f5 = [r23], 32
	nop 0
	;;
	.mmi
	ldf.fill f16 = [r22], 32
	ldf.fill f17 = [r23], 32
	nop 0
	;;
	.mmi
	ldf.fill f18 = [r22], 32
	ldf.fill f19 = [r23], 32
	nop 0
	;;
	.mmi
	ldf.fill f20 = [r22], 32
	ldf.fill f21 = [r23], 32
	nop 0
	;;
	.mmi
	ldf.fill f22 = [r22], 32
	ldf.fill f23 = [r23], 32
	nop 0
	;;
	.mmi
	ldf.fill f24 = [r22], 32
	ldf.fill f25 = [r23], 32
	nop 0
	;;
	.mmi
	ldf.fill f26 = [r22], 32
	ldf.fill f27 = [r23], 32
	nop 0
	;;
	.mmi
	ldf.fill f28 = [r22], 32
	ldf.fill f29 = [r23], 32
	nop 0
	;;
	.mmi
	nop 0
	ldf.fill f30 = [r22]
	nop 0
	.mmb
	ldf.fill f31 = [r23]
	.label_state 1
	.restore sp
	adds r12 = 768, r12
	br.ret.sptk.many b0
.L45:
	.body
	.copy_state 1
	.mmi
	nop 0
	getf.sig r20 = f8
	nop 0
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r18, r20
	(p7) br.cond.dptk .L31
.L33:
	.mib
	getf.sig r16 = f6
	nop 0
	br .L20
	.endp sha256#
	.align 16
	.align 64
	.proc huffman_bits.constprop.0#
huffman_bits.constprop.0:
	.prologue 12, 32
	.mmb
	.save ar.pfs, r33
	alloc r33 = ar.pfs, 0, 4, 3, 0
	.fframe 4096
	adds r12 = -4096, r12
	nop 0
	.mmi
	mov r34 = r1
	nop 0
	.save rp, r32
	mov r32 = b0
	;;
	.mmb
	addl r38 = 2048, r0
	mov r37 = r0
	nop 0
	.mib
	adds r36 = 2064, r12
	.save ar.lc, r35
	mov r35 = ar.lc
	.body
	br.call.sptk.many b0 = memset#
	;;
	.mmi
	mov r1 = r34
	nop 0
	addl r14 = 29999, r0
	;;
	.mlx
	nop 0
	movl r16 = @gprel(text.14#)
	;;
	.mmi
	nop 0
	add r16 = r1, r16
	mov ar.lc = r14
	;;
	.align 32
.L47:
	.mii
	ld1 r14 = [r16], 1
	adds r15 = 2064, r12
	;;
	shladd r14 = r14, 2, r0
	;;
	.mmi
	add r14 = r15, r14
	;;
	ld4 r15 = [r14]
	nop 0
	;;
	.mmi
	nop 0
	adds r15 = 1, r15
	nop 0
	;;
	.mib
	st4 [r14] = r15
	nop 0
	br.cloop.sptk.few .L47
	.mmi
	addl r18 = 255, r0
	adds r17 = 2064, r12
	mov r16 = r0
	.mmi
	mov r15 = r0
	;;
	nop 0
	mov ar.lc = r18
	.align 32
.L49:
	.mmi
	ld4 r18 = [r17], 4
	nop 0
	addp4 r14 = r16, r0
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r18
	nop 0
	shladd r14 = r14, 2, r0
	;;
	.mii
	(p7) adds r28 = 16, r12
	(p7) adds r16 = 1, r16
	;;
	(p7) add r14 = r28, r14
	;;
	.mib
	(p7) st4 [r14] = r15
	adds r15 = 1, r15
	br.cloop.sptk.few .L49
	.mmi
	adds r25 = -1, r16
	cmp4.geu p6, p7 = 1, r16
	adds r14 = 16, r12
	.mmi
	mov r21 = r16
	adds r26 = 3088, r12
	adds r22 = 20, r12
	;;
	.mmi
	addp4 r25 = r25, r0
	nop 0
	(p6) mov r8 = r0
	.mmb
	adds r27 = 256, r16
	nop 0
	(p6) br.cond.dpnt .L46
	;;
	.mmi
	shladd r25 = r25, 2, r0
	ld4 r23 = [r14]
	mov r8 = r0
	;;
	.mmi
	nop 0
	mov r24 = r23
	add r25 = r14, r25
	;;
	.align 32
.L51:
	.mmi
	mov r19 = r24
	adds r16 = -1, r21
	adds r28 = 2064, r12
	.mmi
	mov r15 = r0
	sub r24 = r27, r21
	mov r20 = r22
	;;
	.mib
	nop 0
	sxt4 r14 = r19
	nop 0
	.mmi
	addp4 r16 = r16, r0
	mov r18 = r0
	adds r15 = 1, r15
	;;
	.mii
	shladd r14 = r14, 2, r0
	mov ar.lc = r16
	;;
	add r14 = r28, r14
	;;
	.mib
	ld4 r16 = [r14]
	nop 0
	br.cloop.sptk.few .L68
	;;
	.align 32
.L75:
	.mmi
	addp4 r14 = r18, r0
	adds r18 = 16, r12
	adds r15 = 16, r12
	.mmi
	adds r28 = 2064, r12
	addl r17 = 1, r0
	addl r16 = 1, r0
	;;
	.mmi
	shladd r14 = r14, 2, r0
	st4 [r15] = r19
	adds r15 = -2, r21
	.mmi
	adds r20 = 24, r12
	;;
	add r14 = r18, r14
	addp4 r15 = r15, r0
	;;
	.mmi
	st4 [r14] = r23
	nop 0
	mov ar.lc = r15
	;;
	.mmi
	ld4 r23 = [r22]
	;;
	nop 0
	sxt4 r14 = r23
	.mii
	mov r19 = r23
	mov r18 = r23
	;;
	shladd r14 = r14, 2, r0
	;;
	.mmi
	add r14 = r28, r14
	;;
	ld4 r15 = [r14]
	nop 0
	;;
	.mmi
	nop 0
	mov r14 = r15
	nop 0
	;;
	.mmi
	cmp4.ltu p6, p7 = r14, r15
	;;
	(p6) mov r17 = r16
	(p6) mov r19 = r18
	.mmb
	(p6) mov r15 = r14
	adds r16 = 1, r16
	br.cloop.sptk.few .L67
	;;
	.align 32
.L76:
	.mmi
	addp4 r14 = r17, r0
	nop 0
	adds r15 = 16, r12
	.mmi
	st4 [r22] = r19
	nop 0
	adds r21 = -1, r21
	;;
	.mii
	shladd r14 = r14, 2, r0
	cmp4.eq p6, p7 = 1, r21
	;;
	add r14 = r15, r14
	;;
	.mmi
	st4 [r14] = r23
	;;
	ld4 r23 = [r15]
	nop 0
	.mmi
	st4 [r15] = r24
	ld4 r14 = [r22]
	nop 0
	;;
	.mii
	ld4 r16 = [r25], -4
	sxt4 r15 = r23
	sxt4 r14 = r14
	.mmi
	mov r23 = r24
	;;
	st4 [r22] = r16
	shladd r15 = r15, 2, r0
	.mii
	adds r16 = 2064, r12
	shladd r14 = r14, 2, r0
	;;
	add r15 = r16, r15
	.mmi
	add r14 = r16, r14
	;;
	ld4 r15 = [r15]
	nop 0
	.mmi
	ld4 r14 = [r14]
	;;
	add r14 = r15, r14
	nop 0
	;;
	.mib
	st4 [r26] = r14, 4
	add r8 = r8, r14
	(p7) br.cond.dptk .L51
.L46:
	.mii
	nop 0
	mov b0 = r32
	nop 0
	;;
	.mii
	nop 0
	mov ar.pfs = r33
	;;
	mov ar.lc = r35
	.mmb
	nop 0
	.label_state 1
	.restore sp
	adds r12 = 4096, r12
	br.ret.sptk.many b0
	;;
.L68:
	.body
	.copy_state 1
	.mii
	ld4 r17 = [r20], 4
	adds r28 = 2064, r12
	;;
	sxt4 r14 = r17
	;;
	.mmi
	shladd r14 = r14, 2, r0
	;;
	add r14 = r28, r14
	nop 0
	;;
	.mmi
	nop 0
	ld4 r14 = [r14]
	nop 0
	;;
	.mmi
	cmp4.ltu p6, p7 = r14, r16
	;;
	(p6) mov r18 = r15
	(p6) mov r19 = r17
	.mmb
	(p6) mov r16 = r14
	adds r15 = 1, r15
	br.cloop.sptk.few .L68
	.mib
	nop 0
	nop 0
	br .L75
	;;
.L67:
	.mii
	ld4 r18 = [r20], 4
	adds r28 = 2064, r12
	;;
	sxt4 r14 = r18
	;;
	.mmi
	shladd r14 = r14, 2, r0
	;;
	add r14 = r28, r14
	nop 0
	;;
	.mmi
	nop 0
	ld4 r14 = [r14]
	nop 0
	;;
	.mmi
	cmp4.ltu p6, p7 = r14, r15
	;;
	(p6) mov r17 = r16
	(p6) mov r19 = r18
	.mmb
	(p6) mov r15 = r14
	adds r16 = 1, r16
	br.cloop.sptk.few .L67
	.mib
	nop 0
	nop 0
	br .L76
	.endp huffman_bits.constprop.0#
	.section	.rodata.str1.8,"aMS",@progbits,1
	.align 8
.LC2:
	stringz	"sha256 ok"
	.align 8
.LC3:
	stringz	"sha256 wrong"
	.align 8
.LC8:
	stringz	"lz %zu -> %zu -> %zu same %d huffman %u crc %08x\n"
	.align 8
.LC9:
	stringz	"%08x"
	.align 8
.LC10:
	stringz	"abc"
	.align 8
.LC11:
	stringz	" %s\n"
	.align 8
.LC12:
	stringz	"matrix %.6f %.6f\n"
	.align 8
.LC15:
	stringz	"primes %d last %d\n"
	.align 8
.LC16:
	stringz	"200! %u...%09u (%d words)\n"
	.align 8
.LC17:
	stringz	"life %d crc %08x\n"
	.align 8
.LC18:
	stringz	"paths %ld\n"
	.align 8
.LC20:
	stringz	"heap sort %d %u %u\n"
	.global __udivdi3#
	.global __divdi3#
	.align 8
.LC21:
	stringz	"bits %016lx\n"
	.sdata
	.align 8
.LC4:
	data8	text.14#+2
	.align 8
.LC5:
	data8	packed.13#+1
	.align 8
.LC6:
	data8	packed.13#+2
	.align 8
.LC7:
	data8	packed.13#+3
	.align 8
.LC13:
	data8	composite.5#+2
	.align 8
.LC14:
	data8	composite.5#+4
	.align 8
.LC19:
	data8	v.0#+2
	.section	.text.startup,"ax",@progbits
	.align 16
	.align 64
	.global main#
	.type	main#, @function
	.proc main#
main:
	.prologue 12, 42
	.mmb
	.save ar.pfs, r43
	alloc r43 = ar.pfs, 0, 13, 7, 0
	adds r16 = -24, r12
	nop 0
	.mmi
	adds r17 = -16, r12
	.fframe 80
	adds r12 = -80, r12
	mov r18 = ar.lc
	;;
	.mlx
	addl r14 = 29999, r0
	movl r33 = @gprel(text.14#)
	.mmi
	addl r32 = @gprel(seed#), gp
	.save.f 0x1
	stf.spill [r17] = f2
	mov r44 = r1
	;;
	.mib
	nop 0
	mov ar.lc = r14
	nop 0
	.mlx
	add r33 = r1, r33
	movl r14 = -3689348814741910323
	;;
	.mmi
	nop 0
	setf.sig f6 = r14
	.save rp, r42
	mov r42 = b0
	.mmi
	mov r19 = r0
	mov r21 = r33
	addl r22 = 300, r0
	;;
	.mmi
	.savesp ar.lc, 56
	st8 [r16] = r18, 24
	;;
	.save.f 0x2
	stf.spill [r16] = f3
	.body
	nop 0
	.mmi
	nop 0
	;;
	ld4 r16 = [r32]
	nop 0
	;;
.L80:
	.mmi
	nop 0
	addp4 r20 = r19, r0
	dep.z r14 = r16, 13, 19
	.mmb
	cmp4.ge p6, p7 = r22, r19
	adds r17 = -37, r19
	(p6) br.cond.dpnt .L78
	;;
	.mmi
	setf.sig f7 = r20
	nop 0
	xor r15 = r16, r14
	;;
	.mii
	nop 0
	extr.u r23 = r15, 17, 15
	;;
	xor r15 = r23, r15
	;;
	.mii
	nop 0
	dep.z r24 = r15, 5, 27
	;;
	xor r15 = r24, r15
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f7 = f7, f6
	.mmi
	mov r16 = r15
	nop 0
	dep.z r14 = r15, 13, 19
	;;
	.mii
	getf.sig r18 = f7
	nop 0
	;;
	shr.u r23 = r18, 2
	.mmi
	and r18 = -4, r18
	;;
	add r23 = r18, r23
	and r18 = 3, r15
	;;
	.mib
	sub r20 = r20, r23
	cmp4.eq p6, p7 = 0, r18
	(p6) br.cond.dptk .L78
	;;
	.mii
	sub r14 = r17, r20
	adds r19 = 1, r19
	;;
	sxt4 r14 = r14
	;;
	.mmi
	add r14 = r33, r14
	;;
	ld1 r14 = [r14]
	nop 0
	;;
	.mib
	st1 [r21] = r14, 1
	nop 0
	br.cloop.sptk.few .L80
.L259:
	.mlx
	nop 0
	movl r45 = @gprel(head.11#)
	.mmi
	st4 [r32] = r16
	addl r47 = 16384, r0
	addl r46 = 255, r0
	;;
	.mib
	add r45 = r1, r45
	nop 0
	br.call.sptk.many b0 = memset#
	;;
	.mmi
	mov r1 = r44
	mov r19 = r0
	mov r14 = r0
	.mmi
	addl r27 = 29999, r0
	addl r45 = -1, r0
	addl r25 = 255, r0
	;;
	.mlx
	adds r23 = 1, r19
	movl r18 = @gprel(packed.13#)
	.mlx
	add r22 = r33, r19
	movl r29 = @gprel(head.11#)
	;;
	.mmi
	add r18 = r1, r18
	adds r15 = 4, r19
	add r16 = r33, r23
	.mmi
	addl r31 = @gprel(.LC4), gp
	addl r30 = 4095, r0
	add r29 = r1, r29
	;;
	.mmi
	addl r28 = 65534, r0
	add r20 = r18, r14
	adds r34 = 1, r14
	.mmb
	ld1 r17 = [r22]
	cmp.ltu p6, p7 = r27, r15
	(p6) br.cond.dptk .L81
	;;
.L253:
	.mmi
	shladd r15 = r17, 2, r0
	ld1 r26 = [r16]
	cmp4.eq p8, p9 = r25, r17
	.mmi
	ld8 r16 = [r31]
	;;
	add r15 = r15, r17
	shladd r21 = r26, 4, r0
	.mmi
	add r16 = r19, r16
	(p8) cmp.eq.unc p6, p0 = r0, r0
	(p9) cmp.eq.unc p7, p0 = r0, r0
	.pred.rel.mutex p6, p7
	;;
	.mii
	nop 0
	dep.z r15 = r15, 5, 27
	sub r21 = r21, r26
	.mmi
	ld1 r16 = [r16]
	;;
	sub r15 = r15, r17
	shladd r24 = r21, 4, r0
	.mii
	shladd r16 = r16, 4, r0
	nop 0
	;;
	dep.z r46 = r15, 5, 27
	.mmi
	sub r24 = r24, r21
	;;
	add r15 = r15, r46
	shladd r21 = r24, 4, r0
	;;
	.mmi
	shladd r15 = r15, 2, r0
	nop 0
	sub r21 = r21, r24
	;;
	.mii
	sub r15 = r15, r17
	shladd r21 = r21, 2, r0
	;;
	dep.z r24 = r15, 5, 27
	.mmi
	add r21 = r21, r26
	;;
	sub r24 = r24, r15
	shladd r26 = r21, 2, r0
	;;
	.mii
	nop 0
	dep.z r15 = r24, 8, 24
	sub r26 = r26, r21
	;;
	.mii
	sub r24 = r15, r24
	xor r15 = r26, r16
	;;
	shladd r16 = r24, 4, r0
	;;
	.mmi
	add r16 = r16, r17
	;;
	xor r15 = r16, r15
	nop 0
	;;
	.mmi
	and r15 = r30, r15
	;;
	addp4 r15 = r15, r0
	nop 0
	;;
	.mmi
	shladd r15 = r15, 2, r0
	;;
	add r15 = r29, r15
	nop 0
	;;
	.mmi
	ld4 r16 = [r15]
	st4 [r15] = r19
	nop 0
	;;
	.mii
	nop 0
	sxt4 r15 = r16
	cmp4.gt p10, p11 = r0, r16
	.mmb
	nop 0
	nop 0
	(p10) br.cond.dpnt .L82
	;;
	.mmi
	nop 0
	sub r21 = r19, r15
	nop 0
	;;
	.mbb
	cmp.ltu p6, p7 = r28, r21
	(p7) br.cond.dpnt .L252
	(p8) br.cond.dpnt .L90
.L247:
	.mmi
	st1 [r20] = r17
	nop 0
	nop 0
.L91:
	.mmi
	mov r19 = r23
	nop 0
	mov r14 = r34
	;;
	.mmi
	add r22 = r33, r19
	adds r23 = 1, r19
	adds r15 = 4, r19
	.mii
	add r20 = r18, r14
	adds r34 = 1, r14
	;;
	add r16 = r33, r23
	.mmb
	ld1 r17 = [r22]
	cmp.ltu p6, p7 = r27, r15
	(p7) br.cond.dptk .L253
	;;
.L81:
	.mib
	cmp4.ne p6, p7 = r25, r17
	nop 0
	(p7) br.cond.dpnt .L90
	;;
	.mib
	(p6) st1 [r20] = r17
	cmp.ltu p6, p7 = r27, r23
	(p7) br.cond.dptk .L91
	;;
.L94:
	.mlx
	mov r33 = r0
	movl r14 = @gprel(again.12#)
	.mmi
	cmp.eq p6, p7 = 0, r34
	mov r17 = r0
	addl r30 = 255, r0
	;;
	.mmi
	addl r45 = -1, r0
	nop 0
	add r14 = r1, r14
	.mmb
	addl r31 = @gprel(.LC7), gp
	(p6) mov r33 = r0
	(p6) br.cond.dpnt .L96
	;;
.L105:
	.mmi
	add r19 = r18, r17
	adds r21 = 1, r17
	nop 0
	.mmi
	add r16 = r14, r33
	adds r20 = 1, r33
	adds r15 = 2, r17
	;;
	.mmi
	ld1 r19 = [r19]
	nop 0
	add r22 = r18, r21
	;;
	.mii
	cmp4.eq p6, p7 = r30, r19
	nop 0
	;;
	(p7) mov r17 = r21
	.mmb
	(p7) st1 [r16] = r19
	(p7) mov r33 = r20
	(p7) br.cond.dpnt .L98
	;;
	.mmi
	nop 0
	ld1 r21 = [r22]
	nop 0
	;;
	.mib
	cmp.ne p6, p7 = 0, r21
	nop 0
	(p6) br.cond.dpnt .L254
	;;
	.mmi
	(p7) st1 [r16] = r45
	(p7) mov r17 = r15
	(p7) mov r33 = r20
	;;
.L98:
	.mib
	nop 0
	cmp.ltu p6, p7 = r17, r34
	(p6) br.cond.dptk .L105
.L96:
	.mlx
	nop 0
	movl r46 = @gprel(again.12#)
	.mlx
	addl r47 = 30000, r0
	movl r45 = @gprel(text.14#)
	;;
	.mlx
	nop 0
	movl r37 = @gprel(.LC9)
	.mmi
	add r46 = r1, r46
	nop 0
	add r45 = r1, r45
	;;
	.mib
	add r37 = r1, r37
	nop 0
	br.call.sptk.many b0 = memcmp#
	;;
	.mib
	mov r1 = r44
	mov r36 = r8
	br.call.sptk.many b0 = huffman_bits.constprop.0#
	;;
	.mmi
	mov r1 = r44
	mov r46 = r34
	mov r35 = r8
	;;
	.mlx
	nop 0
	movl r45 = @gprel(packed.13#)
	;;
	.mib
	add r45 = r1, r45
	nop 0
	br.call.sptk.many b0 = crc#
	;;
	.mmb
	mov r1 = r44
	cmp4.eq p6, p7 = 0, r36
	nop 0
	.mmi
	mov r48 = r33
	mov r51 = r8
	extr.u r50 = r35, 3, 29
	;;
	.mlx
	nop 0
	movl r45 = @gprel(.LC8)
	.mmi
	addl r46 = 30000, r0
	mov r47 = r34
	(p6) addl r49 = 1, r0
	;;
	.mmi
	add r45 = r1, r45
	nop 0
	(p7) mov r49 = r0
	.mmb
	adds r33 = 16, r12
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	mov r1 = r44
	adds r47 = 16, r12
	addl r46 = 30000, r0
	;;
	.mlx
	nop 0
	movl r45 = @gprel(text.14#)
	;;
	.mib
	add r45 = r1, r45
	nop 0
	br.call.sptk.many b0 = sha256#
	;;
	.mmi
	nop 0
	mov r1 = r44
	mov ar.lc = 7
.L106:
	.mib
	ld4 r46 = [r33], 4
	mov r45 = r37
	br.call.sptk.many b0 = printf#
	;;
	.mib
	nop 0
	mov r1 = r44
	br.cloop.sptk.few .L106
	;;
	.mlx
	nop 0
	movl r45 = @gprel(.LC10)
	.mmi
	adds r47 = 16, r12
	nop 0
	addl r46 = 3, r0
	;;
	.mib
	add r45 = r1, r45
	nop 0
	br.call.sptk.many b0 = sha256#
	;;
	.mmi
	adds r14 = 16, r12
	nop 0
	mov r1 = r44
	;;
	.mlx
	ld4 r15 = [r14]
	movl r14 = -1166534977
	.mlx
	nop 0
	movl r46 = @gprel(.LC3)
	;;
	.mlx
	cmp4.ne p6, p7 = r14, r15
	movl r34 = @gprel(a.8#)
	.mlx
	add r46 = r1, r46
	movl r45 = @gprel(.LC11)
	;;
	.mib
	nop 0
	nop 0
	(p7) br.cond.dpnt .L255
	;;
	.mib
	add r34 = r1, r34
	add r45 = r1, r45
	br.call.sptk.many b0 = printf#
	;;
	.mlx
	nop 0
	movl r22 = 0x3fe0000000000000
	.mmi
	mov r1 = r44
	mov r18 = r34
	mov r16 = r0
	;;
	.mmi
	setf.d f8 = r22
	nop 0
	nop 0
.L109:
	.mmi
	mov r17 = r18
	mov r15 = r0
	mov ar.lc = 39
	.mib
	nop 0
	sxt4 r14 = r16
	nop 0
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
	fmpy.d f7 = f6, f8
	nop 0
.L108:
	.mii
	nop 0
	sxt4 r14 = r15
	adds r15 = 1, r15
	;;
	.mmi
	nop 0
	setf.sig f9 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f6 = f9
	;;
	.mmf
	nop 0
	nop 0
	fnorm.d f6 = f6
	;;
	.mmf
	nop 0
	nop 0
	fadd.d f6 = f6, f7
	;;
	.mib
	stfd [r17] = f6, 8
	nop 0
	br.cloop.sptk.few .L108
	.mmi
	adds r16 = 1, r16
	nop 0
	adds r18 = 320, r18
	;;
	.mib
	nop 0
	cmp4.ne p6, p7 = 40, r16
	(p6) br.cond.dptk .L109
	.mlx
	nop 0
	movl r14 = 0x3fd0000000000000
	.mlx
	mov r16 = r0
	movl r33 = @gprel(b.7#)
	;;
	.mii
	setf.d f8 = r14
	add r33 = r1, r33
	;;
	mov r18 = r33
	;;
.L113:
	.mmi
	mov r17 = r18
	mov r15 = r0
	mov ar.lc = 39
	.mib
	nop 0
	sxt4 r22 = r16
	nop 0
	;;
	.mmi
	nop 0
	setf.sig f7 = r22
	nop 0
	;;
	.mfi
	nop 0
	fcvt.xf f7 = f7
	nop 0
	;;
	.mfi
	nop 0
	fnorm.d f7 = f7
	nop 0
.L112:
	.mii
	nop 0
	sxt4 r14 = r15
	adds r15 = 1, r15
	;;
	.mmi
	nop 0
	setf.sig f9 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	fcvt.xf f6 = f9
	;;
	.mmf
	nop 0
	nop 0
	fnorm.d f6 = f6
	;;
	.mmf
	nop 0
	nop 0
	fnma.d f6 = f6, f8, f7
	;;
	.mib
	stfd [r17] = f6, 8
	nop 0
	br.cloop.sptk.few .L112
	.mmi
	adds r16 = 1, r16
	nop 0
	adds r18 = 320, r18
	;;
	.mib
	nop 0
	cmp4.ne p6, p7 = 40, r16
	(p6) br.cond.dptk .L113
	.mlx
	nop 0
	movl r2 = @gprel(c.6#)
	.mmi
	addl r47 = 12800, r0
	mov r46 = r0
	adds r33 = 640, r33
	;;
	.mmi
	nop 0
	add r2 = r1, r2
	nop 0
	;;
	.mib
	mov r45 = r2
	nop 0
	br.call.sptk.many b0 = memset#
	;;
	.mmi
	mov r2 = r8
	mov r1 = r44
	nop 0
	.mii
	mov r18 = r8
	nop 0
	;;
	addl r22 = 12800, r2
.L116:
	.mmi
	mov r19 = r33
	mov r21 = r34
	addl r20 = 1, r0
	;;
.L120:
	.mmb
	mov r17 = r21
	adds r16 = -640, r19
	nop 0
	.mmi
	adds r15 = -320, r19
	mov r14 = r18
	mov ar.lc = 39
	;;
	.mmi
	nop 0
	ldfd f10 = [r17], 8
	nop 0
	;;
	.mmi
	ldfd f9 = [r17]
	nop 0
	nop 0
	.align 32
.L117:
	.mmi
	nop 0
	ldfd f8 = [r14], 8
	nop 0
	.mmi
	ldfd f7 = [r16], 8
	ldfd f6 = [r15], 8
	nop 0
	;;
	.mfi
	nop 0
	fma.d f7 = f10, f7, f8
	adds r17 = -8, r14
	;;
	.mmf
	nop 0
	nop 0
	fma.d f6 = f9, f6, f7
	;;
	.mib
	stfd [r17] = f6
	nop 0
	br.cloop.sptk.few .L117
	.mmi
	adds r20 = 2, r20
	adds r21 = 16, r21
	adds r19 = 640, r19
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 41, r20
	(p7) br.cond.dptk .L120
	.mmi
	adds r18 = 320, r18
	nop 0
	adds r34 = 320, r34
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = r18, r22
	(p7) br.cond.dptk .L116
	.mlx
	addl r14 = 12792, r2
	movl r45 = @gprel(.LC12)
	.mmi
	adds r2 = 1000, r2
	;;
	ld8 r47 = [r14]
	add r45 = r1, r45
	.mmb
	ld8 r46 = [r2]
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	mov r1 = r44
	addl r15 = 4, r0
	addl r14 = 2, r0
	.mmi
	mov r47 = r0
	mov r46 = r0
	addl r19 = 49999, r0
	;;
	.mmi
	addl r16 = @gprel(.LC13), gp
	addl r22 = 1, r0
	addl r21 = 50000, r0
	;;
	.mmi
	ld8 r20 = [r16]
	addl r16 = @gprel(.LC14), gp
	nop 0
	;;
	.mmi
	ld8 r16 = [r16]
	nop 0
	nop 0
.L124:
	.mmi
	ld1 r17 = [r20], 1
	mov r18 = r15
	cmp4.ltu p6, p7 = r19, r15
	;;
	.mib
	nop 0
	cmp4.ne p8, p9 = 0, r17
	(p9) br.cond.dpnt .L256
.L121:
	.mmi
	adds r14 = 1, r14
	adds r15 = 2, r15
	adds r16 = 2, r16
	;;
	.mib
	nop 0
	cmp.ne p6, p7 = r21, r14
	(p6) br.cond.dptk .L124
	.mlx
	nop 0
	movl r45 = @gprel(.LC15)
	;;
	.mib
	add r45 = r1, r45
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	mov r1 = r44
	addl r14 = 1, r0
	nop 0
	.mmi
	addl r18 = 2, r0
	addl r48 = 1, r0
	addl r25 = 201, r0
	;;
	.mlx
	nop 0
	movl r17 = @gprel(digits.4#)
	.mlx
	nop 0
	movl r23 = 999999999
	;;
	.mmi
	nop 0
	add r17 = r1, r17
	nop 0
	;;
	.mlx
	st4 [r17] = r14
	movl r14 = 19342813113834067
	.mmi
	nop 0
	;;
	setf.sig f6 = r14
	nop 0
.L129:
	.mlx
	nop 0
	movl r22 = @gprel(digits.4#)
	.mii
	mov r24 = r0
	mov r21 = r0
	;;
	add r22 = r1, r22
	;;
.L128:
	.mmi
	ld4 r15 = [r22], 4
	setf.sig f9 = r24
	nop 0
	.mmi
	setf.sig f8 = r18
	adds r19 = 1, r21
	cmp4.ge p10, p11 = r21, r48
	;;
	.mmi
	setf.sig f7 = r15
	nop 0
	cmp4.gt p12, p13 = r48, r19
	.mmi
	adds r26 = -4, r22
	nop 0
	mov r21 = r19
	;;
	.mmf
	nop 0
	nop 0
	xma.l f7 = f7, f8, f9
	;;
	.mmi
	nop 0
	getf.sig r15 = f7
	nop 0
	;;
	.mii
	nop 0
	shr.u r16 = r15, 9
	cmp.ltu p6, p7 = r23, r15
	.mmi
	cmp.geu p8, p9 = r23, r15
	;;
	setf.sig f7 = r16
	(p12) cmp4.eq.or.andcm p6, p7 = 0, r0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f7 = f7, f6
	;;
	.mmi
	getf.sig r16 = f7
	;;
	nop 0
	shr.u r16 = r16, 11
	;;
	.mii
	nop 0
	shl r20 = r16, 5
	mov r24 = r16
	;;
	.mmi
	sub r20 = r20, r16
	;;
	nop 0
	shl r14 = r20, 6
	;;
	.mmi
	sub r14 = r14, r20
	;;
	shladd r14 = r14, 3, r0
	nop 0
	;;
	.mmi
	add r14 = r14, r16
	;;
	shladd r16 = r14, 2, r0
	nop 0
	;;
	.mmi
	add r14 = r14, r16
	;;
	shladd r16 = r14, 2, r0
	nop 0
	;;
	.mmi
	add r14 = r14, r16
	;;
	shladd r16 = r14, 2, r0
	nop 0
	;;
	.mmi
	nop 0
	add r14 = r14, r16
	nop 0
	;;
	.mii
	nop 0
	shl r14 = r14, 9
	;;
	sub r15 = r15, r14
	;;
	.mib
	st4 [r26] = r15
	nop 0
	(p10) br.cond.dptk .L125
	.mib
	nop 0
	nop 0
	(p6) br.cond.dptk .L128
	.mmi
	nop 0
	adds r18 = 1, r18
	nop 0
	;;
	.mib
	nop 0
	cmp.ne p6, p7 = r25, r18
	(p6) br.cond.dptk .L129
.L261:
	.mlx
	adds r14 = -1, r48
	movl r45 = @gprel(.LC16)
	.mlx
	adds r15 = 20, r17
	movl r33 = @gprel(now.3#)
	;;
	.mii
	nop 0
	sxt4 r14 = r14
	add r45 = r1, r45
	.mmb
	add r33 = r1, r33
	ld4 r47 = [r15]
	nop 0
	;;
	.mmi
	shladd r14 = r14, 2, r0
	;;
	add r17 = r17, r14
	nop 0
	;;
	.mib
	ld4 r46 = [r17]
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mlx
	addl r14 = 2303, r0
	movl r22 = -6148914691236517205
	.mmi
	mov r1 = r44
	ld4 r21 = [r32]
	mov r20 = r0
	;;
	.mmi
	nop 0
	setf.sig f6 = r22
	mov ar.lc = r14
.L130:
	.mii
	nop 0
	dep.z r14 = r21, 13, 19
	addp4 r17 = r20, r0
	.mmb
	nop 0
	adds r20 = 1, r20
	nop 0
	;;
	.mmi
	xor r14 = r21, r14
	setf.sig f7 = r17
	nop 0
	;;
	.mii
	nop 0
	extr.u r16 = r14, 17, 15
	;;
	xor r14 = r16, r14
	;;
	.mii
	nop 0
	dep.z r16 = r14, 5, 27
	;;
	xor r14 = r16, r14
	;;
	.mfi
	addp4 r19 = r14, r0
	xmpy.hu f7 = f7, f6
	mov r21 = r14
	;;
	.mmi
	setf.sig f8 = r19
	;;
	getf.sig r15 = f7
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f8 = f8, f6
	;;
	.mii
	nop 0
	shr.u r15 = r15, 5
	nop 0
	;;
	.mmi
	getf.sig r16 = f8
	shladd r18 = r15, 1, r0
	sxt4 r22 = r15
	;;
	.mii
	add r18 = r18, r15
	shladd r15 = r22, 1, r0
	;;
	shladd r18 = r18, 4, r0
	.mmi
	add r15 = r15, r22
	;;
	sub r17 = r17, r18
	shladd r15 = r15, 4, r0
	;;
	.mii
	nop 0
	sxt4 r17 = r17
	add r15 = r33, r15
	;;
	.mii
	nop 0
	shr.u r18 = r16, 1
	and r16 = -2, r16
	.mmi
	add r15 = r15, r17
	;;
	add r16 = r16, r18
	nop 0
	;;
	.mmi
	sub r19 = r19, r16
	;;
	cmp4.eq p6, p7 = 0, r19
	nop 0
	;;
	.mmi
	(p6) addl r16 = 1, r0
	;;
	(p7) mov r16 = r0
	nop 0
	;;
	.mib
	st1 [r15] = r16
	nop 0
	br.cloop.sptk.few .L130
	.mlx
	st4 [r32] = r14
	movl r14 = -6148914691236517205
	.mlx
	addl r34 = 20, r0
	movl r35 = @gprel(then.2#)
	;;
	.mlx
	setf.sig f2 = r14
	movl r49 = @gprel(now.3#)
	.mii
	add r35 = r1, r35
	nop 0
	;;
	add r49 = r1, r49
.L131:
	.mlx
	addl r46 = 47, r0
	movl r48 = @gprel(then.2#)
	.mlx
	addl r45 = 47, r0
	movl r47 = @gprel(now.3#)
	;;
	.mmi
	nop 0
	add r48 = r1, r48
	add r47 = r1, r47
	;;
.L138:
	.mmi
	setf.sig f9 = r45
	mov r14 = r46
	adds r46 = 1, r46
	.mmi
	mov r25 = r47
	mov r26 = r48
	addl r21 = 47, r0
	;;
	.mmi
	adds r14 = 2, r14
	addl r18 = 47, r0
	mov ar.lc = 47
	;;
	.mmi
	addp4 r14 = r14, r0
	;;
	setf.sig f6 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f9 = f9, f2
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f2
	;;
	.mmi
	getf.sig r16 = f9
	;;
	getf.sig r19 = f6
	nop 0
	;;
	.mii
	nop 0
	shr.u r16 = r16, 5
	;;
	shladd r15 = r16, 1, r0
	;;
	.mmi
	add r15 = r15, r16
	;;
	shladd r15 = r15, 4, r0
	shr.u r19 = r19, 5
	;;
	.mmi
	sub r15 = r45, r15
	addp4 r45 = r46, r0
	shladd r16 = r19, 1, r0
	;;
	.mmi
	setf.sig f7 = r45
	add r16 = r16, r19
	sxt4 r15 = r15
	;;
	.mmi
	shladd r16 = r16, 4, r0
	nop 0
	shladd r24 = r15, 1, r0
	;;
	.mii
	sub r14 = r14, r16
	add r24 = r24, r15
	;;
	sxt4 r14 = r14
	.mmi
	shladd r24 = r24, 4, r0
	;;
	shladd r23 = r14, 1, r0
	add r24 = r33, r24
	;;
	.mfi
	nop 0
	xmpy.hu f7 = f7, f2
	add r23 = r23, r14
	;;
	.mmi
	shladd r23 = r23, 4, r0
	;;
	add r23 = r33, r23
	nop 0
	;;
	.mmi
	getf.sig r17 = f7
	;;
	nop 0
	shr.u r17 = r17, 5
	;;
	.mmi
	shladd r15 = r17, 1, r0
	;;
	add r14 = r15, r17
	nop 0
	;;
	.mmi
	shladd r14 = r14, 4, r0
	;;
	sub r14 = r45, r14
	nop 0
	;;
	.mii
	nop 0
	sxt4 r14 = r14
	;;
	shladd r22 = r14, 1, r0
	;;
	.mmi
	nop 0
	add r22 = r22, r14
	nop 0
	;;
	.mii
	shladd r22 = r22, 4, r0
	nop 0
	;;
	add r22 = r33, r22
	.align 32
.L136:
	.mmi
	setf.sig f6 = r18
	nop 0
	mov r14 = r21
	.mii
	adds r21 = 1, r21
	mov r16 = r0
	;;
	adds r14 = 2, r14
	;;
	.mmi
	addp4 r14 = r14, r0
	;;
	setf.sig f7 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f2
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f7 = f7, f2
	;;
	.mmi
	getf.sig r17 = f6
	;;
	getf.sig r20 = f7
	nop 0
	;;
	.mii
	nop 0
	shr.u r17 = r17, 5
	;;
	shladd r15 = r17, 1, r0
	;;
	.mmi
	add r15 = r15, r17
	;;
	shladd r15 = r15, 4, r0
	shr.u r20 = r20, 5
	;;
	.mmi
	sub r15 = r18, r15
	addp4 r18 = r21, r0
	shladd r17 = r20, 1, r0
	;;
	.mmi
	setf.sig f8 = r18
	add r17 = r17, r20
	sxt4 r15 = r15
	;;
	.mmi
	shladd r17 = r17, 4, r0
	nop 0
	add r27 = r24, r15
	.mmi
	add r20 = r22, r15
	nop 0
	add r15 = r23, r15
	;;
	.mmi
	sub r14 = r14, r17
	ld1 r28 = [r20]
	nop 0
	.mii
	ld1 r20 = [r15]
	nop 0
	;;
	sxt4 r14 = r14
	.mmi
	ld1 r30 = [r27]
	;;
	add r27 = r24, r14
	nop 0
	;;
	.mfi
	nop 0
	xmpy.hu f8 = f8, f2
	nop 0
	.mmi
	ld1 r29 = [r27]
	;;
	getf.sig r19 = f8
	nop 0
	;;
	.mii
	nop 0
	shr.u r17 = r19, 5
	nop 0
	.mii
	add r19 = r22, r14
	add r14 = r23, r14
	;;
	shladd r15 = r17, 1, r0
	.mii
	ld1 r19 = [r19]
	nop 0
	;;
	add r15 = r15, r17
	.mmi
	ld1 r17 = [r14]
	;;
	shladd r14 = r15, 4, r0
	nop 0
	;;
	.mmi
	sub r14 = r18, r14
	;;
	nop 0
	sxt4 r14 = r14
	;;
	.mmi
	add r31 = r24, r14
	add r27 = r22, r14
	add r15 = r23, r14
	;;
	.mmi
	ld1 r14 = [r31]
	ld1 r27 = [r27]
	nop 0
	;;
	.mmi
	add r14 = r14, r30
	ld1 r15 = [r15]
	nop 0
	;;
	.mmi
	add r14 = r14, r29
	;;
	add r14 = r14, r28
	nop 0
	;;
	.mmi
	add r14 = r14, r27
	;;
	add r14 = r14, r19
	nop 0
	;;
	.mmi
	add r14 = r14, r20
	;;
	add r14 = r14, r15
	nop 0
	;;
	.mmi
	nop 0
	add r14 = r14, r17
	nop 0
	;;
	.mib
	cmp4.eq p6, p7 = 3, r14
	nop 0
	(p6) br.cond.dpnt .L257
	;;
	.mib
	cmp4.ne p6, p7 = 4, r14
	nop 0
	(p7) br.cond.dpnt .L258
	;;
	.mib
	st1 [r26] = r16, 1
	adds r25 = 1, r25
	br.cloop.sptk.few .L136
.L262:
	.mmi
	nop 0
	adds r48 = 48, r48
	adds r47 = 48, r47
	.mmb
	nop 0
	cmp4.eq p6, p7 = 95, r46
	(p7) br.cond.dptk .L138
	;;
	.mmi
	adds r34 = -1, r34
	mov r45 = r49
	nop 0
	.mmb
	addl r47 = 2304, r0
	mov r46 = r35
	br.call.sptk.many b0 = memcpy#
	;;
	.mmi
	nop 0
	mov r1 = r44
	mov r49 = r8
	.mmb
	nop 0
	cmp4.eq p6, p7 = 0, r34
	(p7) br.cond.dptk .L131
	.mlx
	nop 0
	movl r22 = -6148914691236517205
	.mmi
	addl r14 = 2303, r0
	mov r34 = r0
	mov r17 = r0
	;;
	.mmi
	nop 0
	setf.sig f6 = r22
	mov ar.lc = r14
.L137:
	.mmi
	addp4 r15 = r17, r0
	nop 0
	adds r17 = 1, r17
	;;
	.mmi
	nop 0
	setf.sig f7 = r15
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f7 = f7, f6
	;;
	.mmi
	getf.sig r14 = f7
	;;
	nop 0
	shr.u r14 = r14, 5
	;;
	.mii
	nop 0
	sxt4 r18 = r14
	shladd r16 = r14, 1, r0
	;;
	.mii
	add r16 = r16, r14
	shladd r14 = r18, 1, r0
	;;
	shladd r16 = r16, 4, r0
	.mmi
	add r14 = r14, r18
	;;
	sub r15 = r15, r16
	shladd r14 = r14, 4, r0
	;;
	.mii
	nop 0
	sxt4 r15 = r15
	add r14 = r33, r14
	;;
	.mmi
	add r14 = r14, r15
	;;
	ld1 r14 = [r14]
	nop 0
	;;
	.mib
	nop 0
	add r34 = r34, r14
	br.cloop.sptk.few .L137
	.mlx
	nop 0
	movl r45 = @gprel(now.3#)
	.mmi
	nop 0
	addl r46 = 2304, r0
	nop 0
	;;
	.mib
	add r45 = r1, r45
	nop 0
	br.call.sptk.many b0 = crc#
	;;
	.mmi
	mov r1 = r44
	mov r47 = r8
	mov r46 = r34
	;;
	.mlx
	nop 0
	movl r45 = @gprel(.LC17)
	;;
	.mib
	add r45 = r1, r45
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mlx
	mov r1 = r44
	movl r14 = 2361183241434822607
	.mmi
	ld4 r18 = [r32]
	mov r21 = r0
	mov r20 = r0
	;;
	.mlx
	setf.sig f6 = r14
	movl r2 = @gprel(d.1#)
	;;
	.mmi
	add r2 = r1, r2
	;;
	mov r23 = r2
	mov r22 = r2
	;;
.L139:
	.mmi
	nop 0
	mov r19 = r22
	mov r17 = r0
	;;
.L145:
	.mii
	nop 0
	dep.z r14 = r18, 13, 19
	cmp4.eq p6, p7 = r20, r17
	.mmb
	nop 0
	nop 0
	(p6) br.cond.dpnt .L142
	;;
	.mmi
	xor r14 = r18, r14
	adds r17 = 1, r17
	addl r21 = 1, r0
	;;
	.mii
	nop 0
	extr.u r15 = r14, 17, 15
	cmp4.ne p6, p7 = 60, r17
	;;
	.mmi
	xor r14 = r15, r14
	;;
	nop 0
	dep.z r15 = r14, 5, 27
	;;
	.mii
	xor r14 = r15, r14
	nop 0
	;;
	extr.u r16 = r14, 3, 29
	.mmi
	mov r18 = r14
	;;
	setf.sig f7 = r16
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f7 = f7, f6
	;;
	.mmi
	getf.sig r16 = f7
	;;
	nop 0
	shr.u r16 = r16, 4
	;;
	.mii
	nop 0
	shl r15 = r16, 5
	;;
	sub r15 = r15, r16
	;;
	.mmi
	shladd r15 = r15, 2, r0
	;;
	add r15 = r15, r16
	nop 0
	;;
	.mmi
	shladd r15 = r15, 3, r0
	;;
	sub r14 = r14, r15
	nop 0
	;;
	.mmi
	nop 0
	adds r14 = 1, r14
	nop 0
	;;
	.mib
	st4 [r19] = r14, 4
	nop 0
	(p6) br.cond.dptk .L145
	.mmi
	adds r20 = 1, r20
	nop 0
	adds r22 = 240, r22
	;;
	.mib
	nop 0
	cmp4.ne p6, p7 = 60, r20
	(p6) br.cond.dptk .L139
	;;
.L263:
	.mmi
	cmp4.eq p6, p7 = 0, r21
	adds r22 = 240, r2
	nop 0
	.mmi
	addl r3 = 14400, r2
	addl r24 = 14640, r2
	mov r20 = r0
	;;
	.mmi
	nop 0
	(p7) st4 [r32] = r18
	mov r21 = r22
.L141:
	.mmi
	addl r17 = -14400, r3
	nop 0
	nop 0
	;;
.L151:
	.mmi
	sub r14 = r21, r2
	add r15 = r20, r17
	mov r16 = r2
	;;
	.mii
	adds r14 = -4, r14
	nop 0
	;;
	shr.u r14 = r14, 2
	;;
	.mii
	nop 0
	mov ar.lc = r14
	nop 0
	.align 32
.L148:
	.mmi
	ld4 r14 = [r16], 4
	ld4 r19 = [r17]
	nop 0
	;;
	.mmi
	ld4 r18 = [r15], 4
	nop 0
	add r14 = r14, r19
	;;
	.mmi
	cmp4.le p6, p7 = r18, r14
	nop 0
	adds r19 = -4, r15
	;;
	.mib
	(p7) st4 [r19] = r14
	nop 0
	br.cloop.sptk.few .L148
	.mmi
	nop 0
	adds r17 = 240, r17
	nop 0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = r3, r17
	(p7) br.cond.dptk .L151
	.mmi
	adds r21 = 240, r16
	mov r2 = r22
	nop 0
	.mmi
	adds r3 = 4, r3
	adds r22 = 240, r22
	adds r20 = -4, r20
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = r24, r21
	(p7) br.cond.dptk .L141
	.mlx
	nop 0
	movl r22 = -8608480567731124087
	.mmi
	addl r14 = 3599, r0
	mov r46 = r0
	mov r17 = r0
	;;
	.mmi
	nop 0
	setf.sig f6 = r22
	mov ar.lc = r14
.L150:
	.mmi
	addp4 r15 = r17, r0
	nop 0
	adds r17 = 1, r17
	;;
	.mmi
	nop 0
	setf.sig f7 = r15
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f7 = f7, f6
	;;
	.mmi
	getf.sig r14 = f7
	;;
	nop 0
	shr.u r14 = r14, 5
	;;
	.mii
	shladd r16 = r14, 4, r0
	sxt4 r18 = r14
	;;
	sub r16 = r16, r14
	.mmi
	shladd r14 = r18, 4, r0
	;;
	shladd r16 = r16, 2, r0
	sub r14 = r14, r18
	;;
	.mii
	sub r15 = r15, r16
	shladd r14 = r14, 2, r0
	;;
	sxt4 r15 = r15
	;;
	.mmi
	add r14 = r14, r15
	;;
	shladd r14 = r14, 2, r0
	nop 0
	;;
	.mmi
	add r14 = r23, r14
	;;
	ld4 r14 = [r14]
	nop 0
	;;
	.mii
	nop 0
	sxt4 r14 = r14
	nop 0
	;;
	.mib
	nop 0
	add r46 = r46, r14
	br.cloop.sptk.few .L150
	.mlx
	nop 0
	movl r45 = @gprel(.LC18)
	;;
	.mib
	add r45 = r1, r45
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	nop 0
	mov r1 = r44
	addl r14 = 4999, r0
	.mmi
	nop 0
	ld4 r15 = [r32]
	nop 0
	;;
	.mlx
	nop 0
	movl r2 = @gprel(v.0#)
	;;
	.mii
	add r2 = r1, r2
	mov ar.lc = r14
	;;
	mov r16 = r2
.L152:
	.mii
	nop 0
	dep.z r14 = r15, 13, 19
	;;
	xor r14 = r15, r14
	;;
	.mii
	nop 0
	extr.u r15 = r14, 17, 15
	;;
	xor r14 = r15, r14
	;;
	.mii
	nop 0
	dep.z r15 = r14, 5, 27
	nop 0
	;;
	.mii
	xor r14 = r15, r14
	nop 0
	;;
	mov r15 = r14
	.mmb
	nop 0
	st2 [r16] = r14, 2
	br.cloop.sptk.few .L152
	;;
	.mmi
	st4 [r32] = r14
	addl r15 = 2500, r0
	addl r14 = 5000, r0
	;;
.L158:
	.mib
	adds r21 = -1, r15
	cmp4.ge p6, p7 = 0, r15
	(p6) br.cond.dpnt .L153
	;;
	.mii
	nop 0
	sxt4 r19 = r21
	shladd r16 = r21, 1, r0
	.mmb
	nop 0
	mov r15 = r21
	nop 0
	;;
	.mii
	shladd r18 = r19, 1, r0
	adds r16 = 1, r16
	;;
	add r18 = r2, r18
	.mmb
	cmp4.lt p8, p9 = r16, r14
	mov r17 = r16
	(p9) br.cond.dpnt .L155
	;;
	.mmi
	ld2 r23 = [r18]
	nop 0
	nop 0
.L165:
	.pred.rel.mutex p6, p7
	.mib
	nop 0
	sxt4 r20 = r15
	nop 0
	.mii
	adds r15 = 1, r15
	sxt4 r18 = r17
	;;
	shladd r15 = r15, 1, r0
	.mii
	shladd r18 = r18, 1, r0
	shladd r20 = r20, 1, r0
	;;
	sxt4 r22 = r15
	.mmi
	add r18 = r2, r18
	add r20 = r2, r20
	cmp4.le p8, p9 = r14, r15
	;;
	.mmi
	shladd r22 = r22, 1, r0
	ld2 r25 = [r18]
	nop 0
	;;
	.mib
	add r22 = r2, r22
	mov r24 = r25
	(p8) br.cond.dptk .L163
	;;
	.mmi
	ld2 r18 = [r22]
	;;
	cmp4.geu p8, p9 = r25, r18
	nop 0
	;;
	.mmi
	nop 0
	(p9) mov r24 = r18
	(p9) mov r17 = r15
	;;
.L163:
	.pred.rel.mutex p6, p7
	.mii
	nop 0
	sxt4 r18 = r17
	shladd r22 = r17, 1, r0
	.mmb
	cmp4.leu p8, p9 = r24, r23
	mov r15 = r17
	(p8) br.cond.dpnt .L164
	;;
	.mmi
	nop 0
	shladd r18 = r18, 1, r0
	adds r22 = 1, r22
	.mmi
	nop 0
	st2 [r20] = r24
	nop 0
	;;
	.mmi
	add r18 = r2, r18
	mov r17 = r22
	cmp4.gt p8, p9 = r14, r22
	;;
	.mib
	st2 [r18] = r23
	nop 0
	(p8) br.cond.dptk .L165
.L164:
	.pred.rel.mutex p6, p7
	.mbb
	cmp4.eq p8, p9 = 1, r14
	(p8) br.cond.dpnt .L156
	(p7) br.cond.dptk .L155
	.mii
	nop 0
	sxt4 r15 = r14
	shladd r19 = r19, 1, r0
	;;
	.mmi
	shladd r15 = r15, 1, r0
	nop 0
	add r20 = r2, r19
	;;
	.mii
	adds r15 = -2, r15
	nop 0
	;;
	add r15 = r2, r15
	;;
.L162:
	.mmi
	nop 0
	ld2 r17 = [r15], -2
	adds r14 = -1, r14
	.mmi
	ld2 r19 = [r2]
	;;
	adds r18 = 2, r15
	cmp4.le p6, p7 = r14, r16
	;;
	.mmi
	st2 [r18] = r19
	st2 [r2] = r17
	nop 0
	.mmb
	mov r18 = r16
	mov r17 = r21
	(p6) br.cond.dpnt .L159
	;;
	.mmi
	ld2 r24 = [r20]
	nop 0
	nop 0
.L161:
	.mib
	nop 0
	sxt4 r22 = r17
	nop 0
	.mii
	adds r17 = 1, r17
	sxt4 r19 = r18
	;;
	shladd r17 = r17, 1, r0
	.mii
	shladd r19 = r19, 1, r0
	shladd r22 = r22, 1, r0
	;;
	sxt4 r23 = r17
	.mmi
	add r19 = r2, r19
	add r22 = r2, r22
	cmp4.le p6, p7 = r14, r17
	;;
	.mmi
	shladd r23 = r23, 1, r0
	ld2 r26 = [r19]
	nop 0
	;;
	.mib
	add r23 = r2, r23
	mov r25 = r26
	(p6) br.cond.dptk .L160
	;;
	.mmi
	ld2 r19 = [r23]
	;;
	cmp4.geu p6, p7 = r26, r19
	nop 0
	;;
	.mmi
	nop 0
	(p7) mov r25 = r19
	(p7) mov r18 = r17
	;;
.L160:
	.mii
	nop 0
	sxt4 r19 = r18
	shladd r23 = r18, 1, r0
	.mmb
	cmp4.geu p6, p7 = r24, r25
	mov r17 = r18
	(p6) br.cond.dpnt .L159
	;;
	.mmi
	nop 0
	shladd r19 = r19, 1, r0
	adds r23 = 1, r23
	.mmi
	nop 0
	st2 [r22] = r25
	nop 0
	;;
	.mmi
	add r19 = r2, r19
	mov r18 = r23
	cmp4.gt p6, p7 = r14, r23
	;;
	.mib
	st2 [r19] = r24
	nop 0
	(p6) br.cond.dptk .L161
.L159:
	.mib
	nop 0
	cmp4.ne p6, p7 = 1, r14
	(p6) br.cond.dptk .L162
.L156:
	.mmi
	addl r14 = @gprel(.LC19), gp
	ld2 r47 = [r2]
	addl r22 = 4998, r0
	.mmi
	nop 0
	addl r16 = 1, r0
	nop 0
	;;
	.mmi
	ld8 r15 = [r14]
	mov r14 = r47
	mov ar.lc = r22
	;;
.L166:
	.mmi
	ld2 r17 = [r15], 2
	;;
	cmp4.leu p6, p7 = r14, r17
	mov r14 = r17
	;;
	.mmi
	(p6) addl r46 = 1, r0
	;;
	(p7) mov r46 = r0
	nop 0
	;;
	.mmi
	nop 0
	and r46 = r16, r46
	nop 0
	;;
	.mib
	nop 0
	mov r16 = r46
	br.cloop.sptk.few .L166
	.mlx
	addl r2 = 9998, r2
	movl r22 = 1442695040888963407
	.mlx
	addl r37 = 3, r0
	movl r45 = @gprel(.LC20)
	;;
	.mlx
	addl r36 = 8, r0
	movl r14 = 6364136223846793005
	.mmi
	setf.sig f2 = r22
	ld2 r48 = [r2]
	add r45 = r1, r45
	;;
	.mlx
	setf.sig f3 = r14
	movl r34 = -7046029254386353131
	.mmb
	addl r41 = 65598, r0
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	setf.sig f6 = r34
	addl r16 = 10, r0
	addl r17 = 2, r0
	.mmi
	addl r14 = 2998, r0
	addl r19 = 31, r0
	mov r46 = r0
	;;
	.mib
	nop 0
	mov ar.lc = r14
	nop 0
	.mmi
	shladd r18 = r17, 1, r0
	shladd r14 = r16, 2, r0
	mov r1 = r44
	;;
	.mlx
	add r17 = r18, r17
	movl r15 = 52995082343606828
	.mlx
	add r14 = r14, r16
	movl r40 = 1152921504606846976
	;;
	.mii
	add r14 = r14, r17
	shr.u r15 = r15, 7
	;;
	add r14 = r14, r19
	;;
	.mfi
	nop 0
	xma.l f6 = f6, f3, f2
	addp4 r14 = r14, r0
	;;
	.mmi
	add r14 = r14, r46
	mov r46 = r37
	adds r37 = 3, r37
	;;
	.mmi
	xor r33 = r14, r15
	;;
	getf.sig r34 = f6
	nop 0
	;;
	.mmi
	nop 0
	getf.sig r45 = f6
	nop 0
	;;
	.mii
	nop 0
	extr r16 = r34, 8, 8
	sxt1 r18 = r34
	.mmi
	cmp4.le p6, p7 = r0, r34
	;;
	cmp4.le p8, p9 = r18, r16
	extr r17 = r34, 16, 16
	;;
	.mii
	(p9) mov r16 = r18
	sxt4 r39 = r17
	sub r17 = r0, r17
	;;
	.mii
	nop 0
	sxt1 r35 = r16
	(p7) sxt4 r39 = r17
	.mmb
	nop 0
	nop 0
	br.call.sptk.many b0 = __udivdi3#
	;;
	.mmi
	mov r46 = r36
	mov r1 = r44
	nop 0
	.mmb
	mov r45 = r34
	mov r32 = r8
	br.call.sptk.many b0 = __umoddi3#
	;;
	.mmi
	adds r46 = -6, r36
	mov r1 = r44
	add r32 = r32, r8
	.mmb
	mov r45 = r34
	adds r36 = 1, r36
	br.call.sptk.many b0 = __divdi3#
	;;
	.mmi
	setf.sig f7 = r34
	add r32 = r32, r35
	mov r1 = r44
	;;
	.mmi
	add r46 = r32, r8
	;;
	add r46 = r46, r39
	nop 0
	;;
	.mmi
	nop 0
	add r46 = r46, r33
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xma.l f7 = f7, f3, f2
	;;
	.mib
	getf.sig r15 = f7
	nop 0
	br.cloop.sptk.few .L225
.L264:
	.mlx
	nop 0
	movl r45 = @gprel(.LC21)
	;;
	.mib
	add r45 = r1, r45
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmb
	mov r8 = r0
	mov r1 = r44
	nop 0
	.mmi
	adds r19 = 56, r12
	adds r20 = 64, r12
	mov b0 = r42
	;;
	.mmi
	nop 0
	ld8 r21 = [r19], 24
	mov ar.pfs = r43
	.mmi
	ldf.fill f2 = [r20]
	;;
	ldf.fill f3 = [r19]
	mov ar.lc = r21
	.mmb
	nop 0
	.label_state 1
	.restore sp
	adds r12 = 80, r12
	br.ret.sptk.many b0
.L78:
	.body
	.copy_state 1
	.mii
	xor r14 = r16, r14
	adds r19 = 1, r19
	;;
	extr.u r15 = r14, 17, 15
	;;
	.mmi
	xor r14 = r15, r14
	;;
	nop 0
	dep.z r15 = r14, 5, 27
	;;
	.mii
	xor r14 = r15, r14
	nop 0
	;;
	zxt1 r15 = r14
	.mmi
	mov r16 = r14
	;;
	mov r14 = r15
	nop 0
	;;
	.mib
	st1 [r21] = r14, 1
	nop 0
	br.cloop.sptk.few .L80
	.mib
	nop 0
	nop 0
	br .L259
.L252:
	.mmi
	mov r16 = r22
	addl r22 = 254, r0
	add r20 = r33, r15
	.mmi
	mov r15 = r0
	;;
	nop 0
	mov ar.lc = r22
	.mii
	addl r22 = 30000, r0
	nop 0
	;;
	sub r22 = r22, r19
.L84:
	.mmi
	ld1 r26 = [r20], 1
	ld1 r24 = [r16], 1
	nop 0
	;;
	.mib
	cmp4.eq p6, p7 = r24, r26
	nop 0
	(p7) br.cond.dpnt .L86
	;;
	.mib
	nop 0
	adds r15 = 1, r15
	br.cloop.sptk.few .L227
	;;
.L85:
	.mmi
	add r16 = r18, r14
	addl r17 = -1, r0
	add r23 = r19, r15
	.mmi
	addl r19 = @gprel(.LC7), gp
	adds r34 = 4, r14
	shr.u r20 = r21, 8
	;;
	.mmi
	st1 [r16] = r17
	nop 0
	addl r16 = @gprel(.LC5), gp
	.mmi
	ld8 r19 = [r19]
	nop 0
	cmp.ltu p6, p7 = r27, r23
	;;
	.mmi
	ld8 r17 = [r16]
	nop 0
	addl r16 = @gprel(.LC6), gp
	;;
	.mmi
	ld8 r16 = [r16]
	nop 0
	add r17 = r14, r17
	;;
	.mmi
	nop 0
	add r16 = r14, r16
	add r14 = r14, r19
	.mii
	st1 [r17] = r15
	nop 0
	;;
	nop 0
	.mmb
	st1 [r16] = r21
	st1 [r14] = r20
	(p7) br.cond.dptk .L91
	.mib
	nop 0
	nop 0
	br .L94
.L82:
	.pred.rel.mutex p6, p7
	.mib
	add r20 = r18, r14
	adds r34 = 1, r14
	(p7) br.cond.dptk .L247
	;;
.L90:
	.mmi
	add r15 = r18, r34
	st1 [r20] = r45
	adds r34 = 2, r14
	.mmi
	nop 0
	cmp.ltu p6, p7 = r27, r23
	nop 0
	;;
	.mib
	st1 [r15] = r0
	nop 0
	(p7) br.cond.dptk .L91
	.mib
	nop 0
	nop 0
	br .L94
.L227:
	.mib
	nop 0
	cmp.eq p6, p7 = r22, r15
	(p7) br.cond.dptk .L84
	;;
.L86:
	.mmi
	cmp.geu p6, p7 = 4, r15
	nop 0
	add r20 = r18, r14
	.mmb
	adds r34 = 1, r14
	nop 0
	(p7) br.cond.dpnt .L85
	;;
	.mmi
	nop 0
	addl r15 = 255, r0
	nop 0
	;;
	.mib
	cmp4.eq p6, p7 = r15, r17
	nop 0
	(p6) br.cond.dpnt .L90
	;;
	.mib
	st1 [r20] = r17
	nop 0
	br .L91
.L254:
	.mmi
	ld8 r20 = [r31]
	add r15 = r18, r15
	adds r19 = -1, r21
	;;
	.mmi
	add r20 = r17, r20
	ld1 r22 = [r15]
	cmp.geu p6, p7 = 7, r19
	.mmi
	adds r17 = 4, r17
	;;
	ld1 r15 = [r20]
	shr.u r20 = r21, 3
	;;
	.mii
	nop 0
	shl r15 = r15, 8
	shladd r20 = r20, 3, r0
	;;
	.mii
	or r15 = r22, r15
	adds r20 = -8, r20
	;;
	sub r22 = r33, r15
	.mib
	adds r24 = -1, r15
	shr.u r20 = r20, 3
	(p6) br.cond.dpnt .L100
	;;
	.mmi
	add r23 = r14, r22
	cmp.ltu p6, p7 = 6, r24
	mov ar.lc = r20
	;;
	.mmi
	or r24 = r16, r23
	nop 0
	(p7) mov r25 = r0
	;;
	.mii
	and r24 = 7, r24
	(p6) addl r25 = 1, r0
	;;
	cmp.eq p6, p7 = 0, r24
	;;
	.mmi
	(p6) addl r20 = 1, r0
	;;
	(p7) mov r20 = r0
	nop 0
	;;
	.mmi
	nop 0
	and r20 = r25, r20
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r20
	(p7) br.cond.dpnt .L101
.L100:
	.mii
	add r15 = r14, r33
	add r22 = r14, r22
	;;
	add r15 = r15, r21
	;;
	.mmi
	nop 0
	sub r15 = r16, r15
	nop 0
	;;
	.mii
	andcm r15 = -1, r15
	nop 0
	;;
	mov ar.lc = r15
.L103:
	.mmi
	nop 0
	ld1 r15 = [r22], 1
	nop 0
	;;
	.mib
	st1 [r16] = r15, 1
	nop 0
	br.cloop.sptk.few .L103
.L104:
	.mmi
	add r33 = r33, r21
	nop 0
	nop 0
.L260:
	.mib
	nop 0
	cmp.ltu p6, p7 = r17, r34
	(p6) br.cond.dptk .L105
	.mib
	nop 0
	nop 0
	br .L96
.L101:
	.mmi
	nop 0
	ld8 r20 = [r23], 8
	nop 0
	;;
	.mib
	st8 [r16] = r20, 8
	nop 0
	br.cloop.sptk.few .L101
	.mii
	and r20 = -8, r21
	and r22 = 7, r21
	;;
	add r16 = r33, r20
	.mmb
	cmp4.eq p6, p7 = 0, r22
	sub r19 = r19, r20
	(p6) br.cond.dpnt .L104
	;;
	.mmi
	sub r27 = r16, r15
	adds r25 = 1, r16
	add r26 = r14, r16
	.mmi
	adds r24 = 2, r16
	adds r20 = 3, r16
	cmp.eq p6, p7 = 0, r19
	;;
	.mmi
	sub r23 = r25, r15
	add r27 = r14, r27
	add r25 = r14, r25
	.mmi
	sub r29 = r24, r15
	sub r28 = r20, r15
	cmp.eq p14, p15 = 1, r19
	;;
	.mmi
	ld1 r27 = [r27]
	add r22 = r14, r23
	add r29 = r14, r29
	.mmi
	add r24 = r14, r24
	add r28 = r14, r28
	add r23 = r14, r20
	;;
	.mmi
	st1 [r26] = r27
	cmp.eq p12, p13 = 2, r19
	cmp.eq p10, p11 = 3, r19
	.mmb
	cmp.eq p8, p9 = 4, r19
	adds r20 = 5, r16
	(p6) br.cond.dpnt .L104
	;;
	.mmi
	ld1 r46 = [r22]
	adds r22 = 4, r16
	cmp.eq p6, p7 = 5, r19
	.mmi
	sub r26 = r20, r15
	adds r16 = 6, r16
	add r20 = r14, r20
	;;
	.mmi
	st1 [r25] = r46
	sub r27 = r22, r15
	add r22 = r14, r22
	.mmb
	add r26 = r14, r26
	sub r15 = r16, r15
	(p14) br.cond.dpnt .L104
	;;
	.mmi
	ld1 r25 = [r29]
	nop 0
	add r27 = r14, r27
	.mmi
	add r15 = r14, r15
	nop 0
	add r16 = r14, r16
	;;
	.mib
	st1 [r24] = r25
	nop 0
	(p12) br.cond.dpnt .L104
	;;
	.mmi
	nop 0
	ld1 r19 = [r28]
	nop 0
	;;
	.mib
	st1 [r23] = r19
	nop 0
	(p10) br.cond.dpnt .L104
	;;
	.mmi
	nop 0
	ld1 r19 = [r27]
	nop 0
	;;
	.mib
	st1 [r22] = r19
	nop 0
	(p8) br.cond.dpnt .L104
	;;
	.mmi
	nop 0
	ld1 r19 = [r26]
	nop 0
	;;
	.mib
	st1 [r20] = r19
	nop 0
	(p6) br.cond.dpnt .L104
	;;
	.mmi
	ld1 r15 = [r15]
	nop 0
	add r33 = r33, r21
	;;
	.mib
	st1 [r16] = r15
	nop 0
	br .L260
.L256:
	.pred.rel.mutex p6, p7
	.mmi
	nop 0
	mov r17 = r16
	mov r47 = r14
	.mmb
	nop 0
	adds r46 = 1, r46
	(p6) br.cond.dpnt .L121
	;;
.L123:
	.mmi
	add r18 = r18, r47
	st1 [r17] = r22
	add r17 = r17, r14
	;;
	.mib
	cmp4.ge p6, p7 = r19, r18
	add r18 = r18, r47
	(p7) br.cond.dpnt .L121
	;;
	.mmi
	nop 0
	st1 [r17] = r22
	cmp4.ge p6, p7 = r19, r18
	.mmb
	nop 0
	add r17 = r17, r14
	(p6) br.cond.dptk .L123
	.mib
	nop 0
	nop 0
	br .L121
.L125:
	.pred.rel.mutex p8, p9
	.mib
	nop 0
	mov r48 = r19
	(p9) br.cond.dptk .L128
	.mmi
	nop 0
	adds r18 = 1, r18
	nop 0
	;;
	.mib
	nop 0
	cmp.ne p6, p7 = r25, r18
	(p6) br.cond.dptk .L129
	.mib
	nop 0
	nop 0
	br .L261
.L258:
	.mii
	ld1 r14 = [r25]
	adds r25 = 1, r25
	;;
	cmp4.ne p6, p7 = 0, r14
	;;
	.mmi
	(p6) addl r16 = 1, r0
	;;
	(p7) mov r16 = r0
	nop 0
	;;
	.mib
	st1 [r26] = r16, 1
	nop 0
	br.cloop.sptk.few .L136
	.mib
	nop 0
	nop 0
	br .L262
.L257:
	.mmi
	addl r16 = 1, r0
	nop 0
	adds r25 = 1, r25
	;;
	.mib
	st1 [r26] = r16, 1
	nop 0
	br.cloop.sptk.few .L136
	.mib
	nop 0
	nop 0
	br .L262
.L142:
	.mmi
	adds r17 = 1, r17
	st4 [r19] = r0, 4
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 60, r17
	(p7) br.cond.dptk .L145
	.mmi
	adds r20 = 1, r20
	nop 0
	adds r22 = 240, r22
	;;
	.mib
	nop 0
	cmp4.ne p6, p7 = 60, r20
	(p6) br.cond.dptk .L139
	.mib
	nop 0
	nop 0
	br .L263
.L153:
	.pred.rel.mutex p6, p7
	.mmi
	adds r14 = -1, r14
	nop 0
	mov r21 = r15
	.mmi
	shladd r16 = r15, 1, r0
	ld2 r18 = [r2]
	nop 0
	;;
	.mii
	nop 0
	sxt4 r15 = r14
	sxt4 r19 = r21
	.mmi
	adds r16 = 1, r16
	;;
	shladd r15 = r15, 1, r0
	cmp4.lt p8, p9 = r16, r14
	;;
	.mmi
	nop 0
	add r15 = r2, r15
	nop 0
	;;
	.mmi
	ld2 r17 = [r15]
	st2 [r15] = r18
	shladd r18 = r19, 1, r0
	.mii
	mov r15 = r21
	nop 0
	;;
	add r18 = r2, r18
	.mmb
	st2 [r2] = r17
	mov r17 = r16
	(p9) br.cond.dpnt .L156
	;;
	.mib
	ld2 r23 = [r18]
	nop 0
	br .L165
.L155:
	.mib
	nop 0
	mov r15 = r21
	br .L158
	;;
.L225:
	.mfb
	nop 0
	fcvt.xuf f6 = f7
	nop 0
	.mii
	or r16 = r40, r15
	popcnt r19 = r15
	mux1 r15 = r15, @rev
	;;
	.mmi
	adds r14 = -1, r16
	;;
	andcm r16 = r14, r16
	shr.u r15 = r15, 7
	;;
	.mmi
	getf.exp r17 = f6
	setf.sig f6 = r34
	nop 0
	;;
	.mii
	nop 0
	popcnt r16 = r16
	;;
	shladd r14 = r16, 2, r0
	;;
	.mmf
	nop 0
	nop 0
	xma.l f6 = f6, f3, f2
	.mii
	sub r17 = r41, r17
	add r14 = r14, r16
	;;
	shladd r18 = r17, 1, r0
	;;
	.mmi
	nop 0
	add r17 = r18, r17
	nop 0
	;;
	.mmi
	add r14 = r14, r17
	;;
	getf.sig r34 = f6
	add r14 = r14, r19
	;;
	.mii
	getf.sig r45 = f6
	addp4 r14 = r14, r0
	;;
	add r14 = r14, r46
	.mii
	mov r46 = r37
	adds r37 = 3, r37
	;;
	xor r33 = r14, r15
	;;
	.mii
	nop 0
	extr r16 = r34, 8, 8
	sxt1 r18 = r34
	.mmi
	cmp4.le p6, p7 = r0, r34
	;;
	cmp4.le p8, p9 = r18, r16
	extr r17 = r34, 16, 16
	;;
	.mii
	(p9) mov r16 = r18
	sxt4 r39 = r17
	sub r17 = r0, r17
	;;
	.mii
	nop 0
	sxt1 r35 = r16
	(p7) sxt4 r39 = r17
	.mmb
	nop 0
	nop 0
	br.call.sptk.many b0 = __udivdi3#
	;;
	.mmi
	mov r46 = r36
	mov r1 = r44
	nop 0
	.mmb
	mov r45 = r34
	mov r32 = r8
	br.call.sptk.many b0 = __umoddi3#
	;;
	.mmi
	adds r46 = -6, r36
	mov r1 = r44
	add r32 = r32, r8
	.mmb
	mov r45 = r34
	adds r36 = 1, r36
	br.call.sptk.many b0 = __divdi3#
	;;
	.mmi
	setf.sig f7 = r34
	add r32 = r32, r35
	mov r1 = r44
	;;
	.mmi
	add r46 = r32, r8
	;;
	add r46 = r46, r39
	nop 0
	;;
	.mmi
	nop 0
	add r46 = r46, r33
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xma.l f7 = f7, f3, f2
	;;
	.mib
	getf.sig r15 = f7
	nop 0
	br.cloop.sptk.few .L225
	.mib
	nop 0
	nop 0
	br .L264
.L255:
	.mlx
	adds r14 = 44, r12
	movl r34 = @gprel(a.8#)
	.mlx
	nop 0
	movl r45 = @gprel(.LC11)
	;;
	.mlx
	ld4 r15 = [r14]
	movl r14 = -234875475
	.mii
	add r34 = r1, r34
	add r45 = r1, r45
	;;
	cmp4.ne p6, p7 = r14, r15
	;;
	.mlx
	nop 0
	(p7) movl r46 = @gprel(.LC2)
	;;
	.mib
	(p7) add r46 = r1, r46
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mlx
	nop 0
	movl r22 = 0x3fe0000000000000
	.mmi
	mov r1 = r44
	mov r18 = r34
	mov r16 = r0
	;;
	.mib
	setf.d f8 = r22
	nop 0
	br .L109
	.endp main#
	.bss
	.align 2
	.type	v.0#, @object
	.size	v.0#, 10000
v.0:
	.skip	10000
	.align 4
	.type	d.1#, @object
	.size	d.1#, 14400
d.1:
	.skip	14400
	.align 1
	.type	then.2#, @object
	.size	then.2#, 2304
then.2:
	.skip	2304
	.align 1
	.type	now.3#, @object
	.size	now.3#, 2304
now.3:
	.skip	2304
	.align 4
	.type	digits.4#, @object
	.size	digits.4#, 320
digits.4:
	.skip	320
	.align 8
	.type	composite.5#, @object
	.size	composite.5#, 50000
composite.5:
	.skip	50000
	.align 8
	.type	c.6#, @object
	.size	c.6#, 12800
c.6:
	.skip	12800
	.align 8
	.type	b.7#, @object
	.size	b.7#, 12800
b.7:
	.skip	12800
	.align 8
	.type	a.8#, @object
	.size	a.8#, 12800
a.8:
	.skip	12800
	.section	.rodata
	.align 4
	.type	start.9#, @object
	.size	start.9#, 32
start.9:
	data4	1779033703
	data4	-1150833019
	data4	1013904242
	data4	-1521486534
	data4	1359893119
	data4	-1694144372
	data4	528734635
	data4	1541459225
	.bss
	.align 4
	.type	k.10#, @object
	.size	k.10#, 256
k.10:
	.skip	256
	.align 4
	.type	head.11#, @object
	.size	head.11#, 16384
head.11:
	.skip	16384
	.align 8
	.type	again.12#, @object
	.size	again.12#, 30000
again.12:
	.skip	30000
	.align 8
	.type	packed.13#, @object
	.size	packed.13#, 60000
packed.13:
	.skip	60000
	.align 8
	.type	text.14#, @object
	.size	text.14#, 30000
text.14:
	.skip	30000
	.align 8
	.type	crc_table#, @object
	.size	crc_table#, 1024
crc_table:
	.skip	1024
	.section	.sdata,"aws"
	.align 4
	.type	seed#, @object
	.size	seed#, 4
seed:
	data4	-1831433054
	.ident	"GCC: (GNU) 12.2.0"
