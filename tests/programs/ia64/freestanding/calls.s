	.file	"calls.c"
	.pred.safe_across_calls p1-p5,p16-p63
	.text
	.align 16
	.align 64
	.proc deep#
deep:
	.prologue 12, 39
	.mmi
	.save ar.pfs, r40
	alloc r40 = ar.pfs, 2, 8, 2, 0
	shladd r14 = r33, 1, r0
	cmp.ne p6, p7 = 0, r32
	.mmi
	adds r42 = -1, r32
	shladd r35 = r32, 3, r0
	mov r41 = r1
	;;
	.mmi
	add r14 = r14, r33
	nop 0
	.save rp, r39
	mov r39 = b0
	.body
	;;
	.mmi
	add r32 = r14, r32
	nop 0
	mov ar.pfs = r40
	;;
	.mmi
	shladd r34 = r32, 2, r0
	xor r33 = r32, r33
	mov b0 = r39
	;;
	.mii
	add r34 = r34, r32
	add r8 = r32, r33
	;;
	add r34 = r34, r33
	;;
	.mib
	add r8 = r8, r34
	xor r35 = r34, r35
	(p6) br.cond.dpnt .L6
	;;
	.mib
	nop 0
	(p7) add r8 = r8, r35
	br.ret.sptk.many b0
.L6:
	.mmi
	add r37 = r33, r35
	;;
	shladd r36 = r37, 3, r0
	nop 0
	;;
	.mmi
	nop 0
	sub r36 = r36, r37
	nop 0
	;;
	.mmi
	xor r36 = r34, r36
	;;
	add r38 = r35, r36
	shladd r35 = r35, 2, r0
	;;
	.mib
	mov r43 = r38
	shladd r38 = r38, 3, r0
	br.call.sptk.many b0 = deep#
	;;
	.mmi
	shladd r43 = r33, 1, r0
	shladd r16 = r34, 1, r0
	mov b0 = r39
	.mmi
	shladd r14 = r37, 1, r0
	shladd r15 = r36, 3, r0
	mov r1 = r41
	;;
	.mmb
	add r43 = r43, r32
	add r16 = r16, r34
	nop 0
	.mmi
	add r14 = r14, r37
	sub r15 = r15, r36
	mov ar.pfs = r40
	;;
	.mmi
	add r43 = r43, r16
	nop 0
	shladd r14 = r14, 4, r0
	;;
	.mii
	add r43 = r43, r35
	sub r14 = r14, r37
	;;
	add r43 = r43, r14
	;;
	.mmi
	add r43 = r43, r15
	;;
	add r43 = r43, r38
	nop 0
	;;
	.mib
	nop 0
	xor r8 = r8, r43
	br.ret.sptk.many b0
	.endp deep#
	.align 16
	.align 64
	.proc change#
change:
	.prologue
	.spill 48
	.mmi
	.fframe 48
	adds r12 = -48, r12
	nop 0
	.save ar.lc, r2
	mov r2 = ar.lc
	.body
	;;
	.mmi
	adds r14 = 16, r12
	adds r20 = 80, r12
	mov ar.lc = 9
	.mmi
	mov r17 = r12
	mov r16 = r12
	mov r15 = r0
	;;
	.mmi
	st8 [r14] = r34
	nop 0
	adds r14 = 88, r12
	.mmi
	ldfd f6 = [r20]
	st8 [r17] = r32, 8
	nop 0
	;;
	.mmi
	nop 0
	ld8 r19 = [r14]
	adds r14 = 24, r12
	.mmi
	st8 [r17] = r33
	;;
	st8 [r14] = r35
	adds r14 = 32, r12
	;;
	.mmi
	st8 [r14] = r36
	nop 0
	adds r14 = 40, r12
	;;
	.mmi
	st8 [r14] = r37
	nop 0
	adds r14 = 48, r12
	;;
	.mmi
	st8 [r14] = r38
	adds r14 = 56, r12
	nop 0
	;;
	.mmi
	st8 [r14] = r39
	nop 0
	nop 0
	.align 32
.L8:
	.mmi
	nop 0
	ld8 r14 = [r16], 8
	nop 0
	;;
	.mmi
	xor r14 = r15, r14
	adds r18 = -8, r16
	add r15 = r15, r19
	;;
	.mib
	st8 [r18] = r14
	nop 0
	br.cloop.sptk.few .L8
	.mmi
	nop 0
	mov r14 = r8
	nop 0
	.mlx
	ld8 r16 = [r12]
	movl r15 = 0x3ff8000000000000
	;;
	.mmi
	nop 0
	st8 [r14] = r16, 8
	nop 0
	.mmi
	ld8 r16 = [r17], 8
	setf.d f7 = r15
	nop 0
	;;
	.mmi
	st8 [r14] = r16, 8
	ld8 r16 = [r17], 8
	nop 0
	;;
	.mmi
	st8 [r14] = r16, 8
	ld8 r16 = [r17], 8
	nop 0
	;;
	.mmi
	st8 [r14] = r16, 8
	ld8 r16 = [r17], 8
	nop 0
	;;
	.mmi
	st8 [r14] = r16, 8
	ld8 r16 = [r17], 8
	nop 0
	;;
	.mmf
	st8 [r14] = r16, 8
	ld8 r16 = [r17], 8
	fmpy.d f6 = f6, f7
	;;
	.mmi
	st8 [r14] = r16, 8
	ld8 r16 = [r17], 8
	nop 0
	;;
	.mmi
	st8 [r14] = r16, 8
	ld8 r16 = [r17], 8
	nop 0
	;;
	.mmi
	st8 [r14] = r16, 8
	ld8 r16 = [r17], 8
	nop 0
	;;
	.mmi
	st8 [r14] = r16, 8
	ld8.a r15 = [r17]
	nop 0
	.mmi
	stfd [r20] = f6
	;;
	ld8.c.clr r15 = [r17]
	nop 0
	;;
	.mmi
	nop 0
	st8 [r14] = r15
	mov ar.lc = r2
	.mmb
	nop 0
	.restore sp
	adds r12 = 48, r12
	br.ret.sptk.many b0
	.endp change#
	.align 16
	.align 64
	.proc plus#
plus:
	.prologue
	.body
	.mib
	nop 0
	add r8 = r32, r33
	br.ret.sptk.many b0
	.endp plus#
	.align 16
	.align 64
	.proc times#
times:
	.prologue
	.body
	.mmi
	setf.sig f6 = r32
	setf.sig f7 = r33
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.l f6 = f6, f7
	;;
	.mib
	getf.sig r8 = f6
	nop 0
	br.ret.sptk.many b0
	.endp times#
	.align 16
	.align 64
	.proc below#
below:
	.prologue
	.body
	.mmi
	cmp.gtu p6, p7 = r33, r32
	;;
	(p6) addl r8 = 1, r0
	nop 0
	;;
	.mib
	nop 0
	(p7) mov r8 = r0
	br.ret.sptk.many b0
	.endp below#
	.align 16
	.align 64
	.proc above#
above:
	.prologue
	.body
	.mmi
	cmp.ltu p6, p7 = r33, r32
	;;
	(p6) addl r8 = 1, r0
	nop 0
	;;
	.mib
	nop 0
	(p7) mov r8 = r0
	br.ret.sptk.many b0
	.endp above#
	.align 16
	.align 64
	.proc sort.constprop.0#
sort.constprop.0:
	.prologue 12, 42
	.mii
	.save ar.pfs, r43
	alloc r43 = ar.pfs, 3, 10, 3, 0
	.save rp, r42
	mov r42 = b0
	mov r44 = r1
	.body
.L23:
	.mlx
	nop 0
	movl r41 = @gprel(numbers#)
	.mmb
	cmp.lt p6, p7 = r32, r33
	nop 0
	(p7) br.cond.dpnt .L20
	;;
	.mmi
	add r41 = r1, r41
	nop 0
	nop 0
.L21:
	.mmi
	add r15 = r33, r32
	mov r37 = r33
	nop 0
	.mmb
	mov r36 = r32
	cmp.le p6, p7 = r32, r33
	(p7) br.cond.dpnt .L23
	;;
	.mii
	nop 0
	shr.u r14 = r15, 63
	;;
	add r14 = r14, r15
	;;
	.mii
	nop 0
	shr r14 = r14, 1
	;;
	shladd r14 = r14, 3, r0
	;;
	.mmi
	nop 0
	add r14 = r41, r14
	nop 0
	;;
	.mmi
	ld8 r40 = [r14]
	nop 0
	nop 0
	;;
	.align 32
.L22:
	.mmi
	shladd r35 = r36, 3, r0
	ld8 r14 = [r34], 8
	mov r46 = r40
	;;
	.mmi
	add r35 = r41, r35
	ld8 r1 = [r34], -8
	mov b6 = r14
	;;
	.mmi
	nop 0
	mov r39 = r35
	nop 0
	.mmb
	ld8 r45 = [r35], 8
	nop 0
	br.call.sptk.many b0 = b6
	;;
	.mib
	nop 0
	cmp4.ne p6, p7 = 0, r8
	(p7) br.cond.dpnt .L34
	.align 32
.L24:
	.mmi
	ld8 r14 = [r34], 8
	adds r36 = 1, r36
	mov r39 = r35
	.mmi
	mov r46 = r40
	ld8 r45 = [r35], 8
	nop 0
	;;
	.mib
	ld8 r1 = [r34], -8
	mov b6 = r14
	br.call.sptk.many b0 = b6
	;;
	.mib
	nop 0
	cmp4.ne p6, p7 = 0, r8
	(p6) br.cond.dptk .L24
.L34:
	.mmi
	shladd r35 = r37, 3, r0
	ld8 r14 = [r34], 8
	mov r45 = r40
	;;
	.mmi
	add r35 = r41, r35
	ld8 r1 = [r34], -8
	mov b6 = r14
	;;
	.mmi
	mov r38 = r35
	nop 0
	adds r35 = -8, r35
	;;
	.mib
	ld8 r46 = [r38]
	nop 0
	br.call.sptk.many b0 = b6
	;;
	.mib
	mov r1 = r44
	cmp4.ne p6, p7 = 0, r8
	(p7) br.cond.dpnt .L35
	.align 32
.L26:
	.mmi
	nop 0
	ld8 r14 = [r34], 8
	mov r38 = r35
	.mmi
	mov r45 = r40
	adds r37 = -1, r37
	adds r35 = -8, r35
	;;
	.mmi
	ld8 r1 = [r34], -8
	nop 0
	mov b6 = r14
	.mmb
	ld8 r46 = [r38]
	nop 0
	br.call.sptk.many b0 = b6
	;;
	.mib
	mov r1 = r44
	cmp4.ne p6, p7 = 0, r8
	(p6) br.cond.dptk .L26
	;;
.L35:
	.mib
	cmp.lt p6, p7 = r37, r36
	nop 0
	(p6) br.cond.dpnt .L27
	;;
	.mmi
	ld8 r14 = [r39]
	adds r36 = 1, r36
	adds r37 = -1, r37
	.mmi
	ld8 r15 = [r38]
	;;
	st8 [r39] = r15
	cmp.lt p6, p7 = r37, r36
	.mmb
	nop 0
	st8 [r38] = r14
	(p7) br.cond.dptk .L22
.L27:
	.mmi
	mov r45 = r32
	mov r47 = r34
	nop 0
	.mmb
	mov r46 = r37
	mov r32 = r36
	br.call.sptk.many b0 = sort.constprop.0#
	;;
	.mib
	mov r1 = r44
	cmp.ge p6, p7 = r36, r33
	(p7) br.cond.dptk .L21
.L20:
	.mii
	nop 0
	mov b0 = r42
	nop 0
	;;
	.mib
	nop 0
	mov ar.pfs = r43
	br.ret.sptk.many b0
	.endp sort.constprop.0#
	.align 16
	.align 64
	.proc many.constprop.0#
many.constprop.0:
	.prologue
	.body
	.mib
	nop 0
	addl r8 = 392, r0
	br.ret.sptk.many b0
	.endp many.constprop.0#
	.align 16
	.align 64
	.proc ackermann#
ackermann:
	.prologue 12, 43
	.mmi
	.save ar.pfs, r44
	alloc r44 = ar.pfs, 2, 13, 2, 0
	cmp.eq p6, p7 = 0, r32
	.save ar.lc, r46
	mov r46 = ar.lc
	.mmi
	adds r42 = -1, r32
	nop 0
	mov r45 = r1
	;;
	.mib
	nop 0
	.save rp, r43
	mov r43 = b0
	.body
	(p6) br.cond.dpnt .L39
	;;
	.mib
	cmp.eq p6, p7 = 0, r33
	nop 0
	(p7) br.cond.spnt .L187
	;;
	.mmi
	nop 0
	adds r32 = -2, r32
	(p6) addl r33 = 1, r0
	.mmb
	nop 0
	cmp.eq p6, p7 = 0, r42
	(p6) br.cond.dpnt .L39
	;;
.L201:
	.mib
	cmp.ne p6, p7 = 0, r33
	nop 0
	(p6) br.cond.dpnt .L95
	;;
	.mib
	addl r33 = 1, r0
	cmp.eq p6, p7 = 0, r32
	(p6) br.cond.dpnt .L39
	;;
.L187:
	.mmi
	adds r42 = -1, r32
	adds r33 = -1, r33
	addl r8 = 1, r0
	;;
	.mib
	cmp.eq p6, p7 = 0, r33
	mov r34 = r42
	(p7) br.cond.dpnt .L193
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r42
	(p6) br.cond.dpnt .L44
	;;
.L45:
	.mib
	nop 0
	cmp.eq p6, p7 = 1, r8
	(p7) br.cond.dpnt .L194
	;;
	.mmi
	(p6) mov r41 = r34
	nop 0
	nop 0
.L47:
	.mmi
	adds r34 = -1, r34
	nop 0
	addl r8 = 1, r0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r34
	(p6) br.cond.dpnt .L51
	;;
	.align 32
.L52:
	.mib
	cmp.eq p6, p7 = 1, r8
	nop 0
	(p7) br.cond.dpnt .L195
	;;
	.mmi
	(p6) mov r40 = r34
	adds r34 = -1, r34
	addl r8 = 1, r0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r34
	(p6) br.cond.dpnt .L58
	;;
	.align 32
.L59:
	.mib
	cmp.eq p6, p7 = 1, r8
	nop 0
	(p7) br.cond.dpnt .L196
	;;
	.mmi
	(p6) mov r39 = r34
	adds r34 = -1, r34
	addl r8 = 1, r0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r34
	(p6) br.cond.dpnt .L65
	;;
	.align 32
.L66:
	.mib
	cmp.eq p6, p7 = 1, r8
	nop 0
	(p7) br.cond.dpnt .L197
	;;
	.mmi
	(p6) mov r38 = r34
	adds r34 = -1, r34
	addl r8 = 1, r0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r34
	(p6) br.cond.dpnt .L72
	;;
	.align 32
.L73:
	.mib
	cmp.eq p6, p7 = 1, r8
	nop 0
	(p7) br.cond.dpnt .L198
	;;
	.mii
	(p6) mov r37 = r34
	adds r34 = -1, r34
	;;
	cmp.eq p6, p7 = 0, r34
	;;
	.mib
	nop 0
	(p6) addl r8 = 1, r0
	(p6) br.cond.dpnt .L79
.L113:
	.mmi
	mov r36 = r34
	nop 0
	nop 0
.L82:
	.mmi
	adds r34 = -1, r34
	nop 0
	nop 0
	;;
.L189:
	.mmi
	nop 0
	addl r8 = 1, r0
	cmp.eq p6, p7 = 0, r34
	.mmb
	nop 0
	nop 0
	(p6) br.cond.dpnt .L86
	;;
	.mmi
	adds r8 = -1, r8
	nop 0
	nop 0
.L89:
	.mii
	adds r14 = -1, r34
	mov r35 = r34
	;;
	mov ar.lc = r14
	.align 32
.L91:
	.mmi
	cmp.eq p6, p7 = 0, r8
	nop 0
	mov r47 = r35
	.mmb
	adds r35 = -1, r35
	nop 0
	(p7) br.cond.dpnt .L199
	;;
	.mib
	nop 0
	(p6) addl r8 = 1, r0
	br.cloop.sptk.few .L91
	;;
.L200:
	.mmi
	cmp.eq p6, p7 = 1, r34
	adds r8 = 1, r8
	nop 0
	.mmb
	adds r14 = -1, r34
	adds r34 = -2, r34
	(p6) br.cond.dpnt .L86
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r8
	(p6) br.cond.dptk .L189
	.mib
	mov r34 = r14
	adds r8 = -1, r8
	br .L89
	;;
.L199:
	.mib
	adds r48 = -1, r8
	nop 0
	br.call.sptk.many b0 = ackermann#
	;;
	.mib
	nop 0
	mov r1 = r45
	br.cloop.sptk.few .L91
	.mib
	nop 0
	nop 0
	br .L200
.L86:
	.mmi
	adds r8 = 1, r8
	nop 0
	adds r34 = -1, r36
	.mmb
	cmp.eq p6, p7 = 1, r36
	nop 0
	(p6) br.cond.dpnt .L79
	;;
	.mib
	cmp.eq p6, p7 = 0, r8
	nop 0
	(p7) br.cond.dpnt .L80
	;;
	.mmi
	nop 0
	adds r34 = -2, r36
	addl r8 = 1, r0
	.mmb
	nop 0
	cmp.eq p6, p7 = 2, r36
	(p6) br.cond.dpnt .L79
	;;
.L80:
	.mmi
	cmp.eq p6, p7 = 1, r8
	nop 0
	adds r14 = -1, r34
	.mmb
	mov r35 = r34
	nop 0
	(p6) br.cond.dpnt .L113
	;;
	.mmb
	nop 0
	(p7) adds r8 = -2, r8
	nop 0
	.mib
	(p7) mov r36 = r34
	mov ar.lc = r14
	br .L91
	;;
.L79:
	.mmi
	adds r8 = 1, r8
	nop 0
	cmp.eq p6, p7 = 1, r37
	.mmb
	adds r34 = -1, r37
	nop 0
	(p6) br.cond.dpnt .L72
	;;
	.mib
	cmp.eq p6, p7 = 0, r8
	nop 0
	(p7) br.cond.dpnt .L73
	;;
	.mmi
	nop 0
	adds r34 = -2, r37
	addl r8 = 1, r0
	.mmb
	nop 0
	cmp.eq p6, p7 = 2, r37
	(p7) br.cond.dptk .L73
	;;
.L72:
	.mmi
	adds r8 = 1, r8
	nop 0
	cmp.eq p6, p7 = 1, r38
	.mmb
	adds r34 = -1, r38
	nop 0
	(p6) br.cond.dpnt .L65
	;;
	.mib
	cmp.eq p6, p7 = 0, r8
	nop 0
	(p7) br.cond.dpnt .L66
	;;
	.mmi
	nop 0
	adds r34 = -2, r38
	addl r8 = 1, r0
	.mmb
	nop 0
	cmp.eq p6, p7 = 2, r38
	(p7) br.cond.dptk .L66
	;;
.L65:
	.mmi
	adds r8 = 1, r8
	nop 0
	cmp.eq p6, p7 = 1, r39
	.mmb
	adds r34 = -1, r39
	nop 0
	(p6) br.cond.dpnt .L58
	;;
	.mib
	cmp.eq p6, p7 = 0, r8
	nop 0
	(p7) br.cond.dpnt .L59
	;;
	.mmi
	nop 0
	adds r34 = -2, r39
	addl r8 = 1, r0
	.mmb
	nop 0
	cmp.eq p6, p7 = 2, r39
	(p7) br.cond.dptk .L59
	;;
.L58:
	.mmi
	adds r8 = 1, r8
	nop 0
	cmp.eq p6, p7 = 1, r40
	.mmb
	adds r34 = -1, r40
	nop 0
	(p6) br.cond.dpnt .L51
	;;
	.mib
	cmp.eq p6, p7 = 0, r8
	nop 0
	(p7) br.cond.dpnt .L52
	;;
	.mmi
	nop 0
	adds r34 = -2, r40
	addl r8 = 1, r0
	.mmb
	nop 0
	cmp.eq p6, p7 = 2, r40
	(p7) br.cond.dptk .L52
	;;
.L51:
	.mmi
	adds r8 = 1, r8
	nop 0
	cmp.eq p6, p7 = 1, r41
	.mmb
	adds r34 = -1, r41
	nop 0
	(p6) br.cond.dpnt .L44
	;;
	.mib
	cmp.eq p6, p7 = 0, r8
	nop 0
	(p7) br.cond.dpnt .L45
	;;
	.mmi
	nop 0
	adds r34 = -2, r41
	addl r8 = 1, r0
	.mmb
	nop 0
	cmp.eq p6, p7 = 2, r41
	(p7) br.cond.dptk .L45
	;;
.L44:
	.mmi
	nop 0
	adds r33 = 1, r8
	adds r32 = -2, r32
	.mmb
	nop 0
	cmp.eq p6, p7 = 0, r42
	(p7) br.cond.dptk .L201
	;;
.L39:
	.mii
	adds r8 = 1, r33
	mov b0 = r43
	;;
	mov ar.pfs = r44
	;;
	.mib
	nop 0
	mov ar.lc = r46
	br.ret.sptk.many b0
.L198:
	.mmi
	nop 0
	adds r8 = -2, r8
	mov r37 = r34
	;;
.L85:
	.mib
	mov r36 = r34
	cmp.eq p6, p7 = 0, r8
	(p6) br.cond.dptk .L82
	;;
	.mmi
	adds r14 = -1, r34
	nop 0
	adds r8 = -1, r8
	.mmi
	mov r36 = r34
	nop 0
	mov r35 = r34
	;;
	.mib
	nop 0
	mov ar.lc = r14
	br .L91
.L197:
	.mmi
	nop 0
	adds r8 = -2, r8
	mov r38 = r34
	;;
.L78:
	.mmi
	cmp.eq p6, p7 = 0, r8
	nop 0
	mov r37 = r34
	;;
	.mib
	(p7) adds r8 = -1, r8
	nop 0
	(p7) br.cond.dpnt .L85
	;;
	.mmi
	nop 0
	adds r34 = -1, r34
	nop 0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r34
	(p7) br.cond.dptk .L113
	;;
	.mmi
	(p6) addl r8 = 1, r0
	nop 0
	nop 0
	.mib
	nop 0
	nop 0
	br .L79
	;;
.L196:
	.mmi
	nop 0
	adds r8 = -2, r8
	mov r39 = r34
	;;
.L71:
	.mmi
	cmp.eq p6, p7 = 0, r8
	nop 0
	mov r38 = r34
	;;
	.mib
	(p7) adds r8 = -1, r8
	nop 0
	(p7) br.cond.dpnt .L78
	;;
	.mmi
	adds r34 = -1, r34
	nop 0
	addl r8 = 1, r0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r34
	(p7) br.cond.dptk .L73
	.mib
	nop 0
	nop 0
	br .L72
.L195:
	.mmi
	nop 0
	adds r8 = -2, r8
	mov r40 = r34
	;;
.L64:
	.mmi
	cmp.eq p6, p7 = 0, r8
	nop 0
	mov r39 = r34
	;;
	.mib
	(p7) adds r8 = -1, r8
	nop 0
	(p7) br.cond.dpnt .L71
	;;
	.mmi
	adds r34 = -1, r34
	nop 0
	addl r8 = 1, r0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r34
	(p7) br.cond.dptk .L66
	.mib
	nop 0
	nop 0
	br .L65
.L194:
	.mmi
	adds r8 = -2, r8
	mov r41 = r34
	mov r40 = r34
	;;
	.mmi
	nop 0
	cmp.eq p6, p7 = 0, r8
	nop 0
	;;
	.mib
	nop 0
	(p7) adds r8 = -1, r8
	(p7) br.cond.dpnt .L64
	;;
.L202:
	.mmi
	adds r34 = -1, r34
	nop 0
	addl r8 = 1, r0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r34
	(p7) br.cond.dptk .L59
	.mib
	nop 0
	nop 0
	br .L58
	;;
.L193:
	.mmi
	nop 0
	mov r41 = r32
	mov r34 = r32
	.mmb
	nop 0
	cmp.eq p6, p7 = 1, r33
	(p6) br.cond.dptk .L47
	;;
	.mmi
	adds r8 = -2, r33
	adds r42 = -1, r32
	mov r40 = r34
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = 0, r8
	(p6) br.cond.dptk .L202
	;;
	.mmi
	(p7) adds r8 = -1, r8
	nop 0
	nop 0
	.mib
	nop 0
	nop 0
	br .L64
.L95:
	.mib
	nop 0
	mov r32 = r42
	br .L187
	.endp ackermann#
	.section	.rodata.str1.8,"aMS",@progbits,1
	.align 8
.LC0:
	stringz	"calls\n"
	.text
	.align 16
	.align 64
	.global program#
	.type	program#, @function
	.proc program#
program:
	.prologue 12, 47
	.mmb
	.save ar.pfs, r48
	alloc r48 = ar.pfs, 0, 18, 8, 0
	adds r16 = -8, r12
	nop 0
	.mii
	.fframe 176
	adds r12 = -176, r12
	mov r17 = ar.lc
	mov r49 = r1
	;;
	.mib
	nop 0
	.save rp, r47
	mov r47 = b0
	nop 0
	.mlx
	adds r41 = 64, r12
	movl r50 = @gprel(.LC0)
	;;
	.mmi
	add r50 = r1, r50
	adds r40 = 80, r12
	adds r39 = 88, r12
	.mmi
	adds r38 = 96, r12
	adds r37 = 104, r12
	adds r42 = 56, r12
	;;
	.mmi
	adds r36 = 112, r12
	mov r33 = r0
	adds r35 = 72, r12
	.mmi
	adds r34 = 120, r12
	adds r32 = 128, r12
	adds r46 = 40, r12
	;;
	.mmi
	adds r45 = 16, r12
	adds r44 = 24, r12
	adds r43 = 32, r12
	;;
	.mmi
	nop 0
	.savesp ar.lc, 168
	st8 [r16] = r17, 8
	nop 0
	;;
	.mib
	.save.f 0x1
	stf.spill [r16] = f2
	.body
	nop 0
	br.call.sptk.many b0 = put#
	;;
	.mmi
	addl r51 = 1, r0
	nop 0
	mov r1 = r49
	.mmb
	addl r50 = 10, r0
	nop 0
	br.call.sptk.many b0 = deep#
	;;
	.mib
	mov r1 = r49
	mov r50 = r8
	br.call.sptk.many b0 = put_hex#
	;;
	.mmi
	addl r51 = 1, r0
	nop 0
	mov r1 = r49
	.mmb
	addl r50 = 15000, r0
	nop 0
	br.call.sptk.many b0 = deep#
	;;
	.mib
	mov r1 = r49
	mov r50 = r8
	br.call.sptk.many b0 = put_hex#
	;;
	.mlx
	nop 0
	movl r14 = 0x4000000000000000
	.mmi
	nop 0
	mov r1 = r49
	nop 0
	;;
	.mib
	setf.d f2 = r14
	nop 0
	br.call.sptk.many b0 = many.constprop.0#
	;;
	.mib
	mov r1 = r49
	mov r50 = r8
	br.call.sptk.many b0 = put_hex#
	;;
	.mmb
	addl r16 = 3, r0
	addl r14 = 1, r0
	nop 0
	.mmi
	adds r15 = 48, r12
	mov r1 = r49
	mov ar.lc = 19
	;;
	.mmi
	nop 0
	st8 [r41] = r16
	addl r16 = 5, r0
	.mmi
	st8 [r15] = r14
	addl r14 = 2, r0
	addl r15 = 4, r0
	;;
	.mmi
	st8 [r40] = r16
	nop 0
	addl r16 = 6, r0
	.mmi
	st8 [r42] = r14
	nop 0
	addl r14 = 10, r0
	;;
	.mmi
	st8 [r39] = r16
	nop 0
	addl r16 = 7, r0
	;;
	.mmi
	st8 [r38] = r16
	nop 0
	addl r16 = 8, r0
	;;
	.mmi
	st8 [r37] = r16
	addl r16 = 9, r0
	nop 0
	;;
	.mmi
	st8 [r36] = r16
	nop 0
	nop 0
	.align 32
.L204:
	.mmi
	adds r16 = 48, r12
	ld8 r17 = [r36]
	nop 0
	.mmi
	stfd [r32] = f2
	st8 [r46] = r33
	mov r53 = r15
	;;
	.mmi
	ld8 r50 = [r16]
	mov r8 = r16
	adds r33 = 77, r33
	.mmi
	ld8 r16 = [r32]
	st8 [r45] = r17
	nop 0
	;;
	.mmi
	st8 [r35] = r15
	ld8.a r54 = [r40]
	nop 0
	.mmi
	ld8.a r55 = [r39]
	;;
	ld8 r51 = [r42]
	nop 0
	.mmi
	st8 [r44] = r14
	st8 [r34] = r14
	nop 0
	;;
	.mmi
	nop 0
	ld8.c.clr r54 = [r40]
	nop 0
	.mmi
	ld8 r52 = [r41]
	st8 [r43] = r16
	nop 0
	;;
	.mmi
	ld8.c.clr r55 = [r39]
	ld8 r56 = [r38]
	nop 0
	;;
	.mib
	ld8 r57 = [r37]
	nop 0
	br.call.sptk.many b0 = change#
	;;
	.mmi
	mov r1 = r49
	ldfd f2 = [r32]
	nop 0
	.mmb
	ld8 r15 = [r35]
	ld8 r14 = [r34]
	br.cloop.sptk.few .L204
	;;
	.mmi
	add r50 = r15, r14
	nop 0
	adds r33 = 136, r12
	.mmb
	mov r32 = r0
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mmf
	nop 0
	nop 0
	mov f8 = f2
	.mmb
	mov r1 = r49
	nop 0
	br.call.sptk.many b0 = put_double#
	;;
	.mmb
	mov r1 = r49
	adds r15 = 144, r12
	nop 0
	.mmi
	addl r50 = 3, r0
	adds r51 = 3, r32
	mov ar.lc = 49
	;;
	.mmi
	addl r14 = @ltoff(@fptr(plus#)), gp
	addl r16 = @ltoff(@fptr(times#)), gp
	adds r32 = 1, r32
	;;
	.mmi
	ld8 r14 = [r14]
	ld8 r16 = [r16]
	nop 0
	;;
	.mmi
	st8 [r33] = r14
	st8 [r15] = r16
	nop 0
	;;
	.mmi
	nop 0
	ld8 r15 = [r14], 8
	nop 0
	;;
	.mib
	ld8 r1 = [r14]
	mov b6 = r15
	br.call.sptk.many b0 = b6
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 1
	mov r1 = r49
	.mmb
	nop 0
	mov r50 = r8
	nop 0
	;;
	.mib
	nop 0
	add r14 = r33, r14
	br.cloop.sptk.few .L218
.L223:
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mmi
	mov r1 = r49
	nop 0
	addl r51 = 49, r0
	.mmb
	addl r50 = 2, r0
	nop 0
	br.call.sptk.many b0 = ackermann#
	;;
	.mmi
	mov r1 = r49
	nop 0
	cmp.eq p6, p7 = 0, r8
	.mmb
	addl r50 = 2, r0
	nop 0
	(p7) br.cond.dpnt .L222
	;;
	.mlx
	nop 0
	movl r32 = @gprel(numbers#)
	;;
	.mib
	add r32 = r1, r32
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mlx
	addl r14 = 299, r0
	movl r15 = -9086255505087856445
	.mmi
	mov r1 = r49
	mov r17 = r32
	mov r16 = r0
	;;
	.mmi
	nop 0
	setf.sig f6 = r15
	mov ar.lc = r14
	.align 32
.L208:
	.mmi
	nop 0
	setf.sig f7 = r16
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f7 = f7, f6
	;;
	.mmi
	getf.sig r15 = f7
	;;
	nop 0
	shr.u r15 = r15, 9
	;;
	.mii
	nop 0
	shl r14 = r15, 6
	;;
	sub r14 = r14, r15
	;;
	.mmi
	nop 0
	shladd r14 = r14, 4, r0
	nop 0
	;;
	.mmi
	add r14 = r14, r15
	;;
	sub r14 = r16, r14
	adds r16 = 7919, r16
	;;
	.mib
	st8 [r17] = r14, 8
	nop 0
	br.cloop.sptk.few .L208
	.mmi
	addl r52 = @ltoff(@fptr(above#)), gp
	mov r50 = r0
	addl r51 = 299, r0
	;;
	.mib
	ld8 r52 = [r52]
	nop 0
	br.call.sptk.many b0 = sort.constprop.0#
	;;
	.mmi
	mov r1 = r49
	addl r15 = 299, r0
	mov r50 = r0
	;;
	.mlx
	nop 0
	movl r14 = @gprel(numbers#)
	;;
	.mmi
	nop 0
	add r14 = r1, r14
	mov ar.lc = r15
	;;
	.align 32
.L209:
	.mii
	nop 0
	shl r16 = r50, 5
	nop 0
	.mmi
	ld8 r15 = [r14], 8
	;;
	sub r50 = r16, r50
	nop 0
	;;
	.mib
	nop 0
	add r50 = r50, r15
	br.cloop.sptk.few .L209
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mlx
	nop 0
	movl r15 = -9086255505087856445
	.mmi
	mov r1 = r49
	addl r14 = 299, r0
	mov r16 = r0
	;;
	.mmi
	nop 0
	setf.sig f6 = r15
	mov ar.lc = r14
	.mlx
	nop 0
	movl r17 = @gprel(numbers#)
	;;
	.mmi
	add r17 = r1, r17
	nop 0
	nop 0
	.align 32
.L210:
	.mmi
	nop 0
	setf.sig f7 = r16
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f7 = f7, f6
	;;
	.mmi
	getf.sig r15 = f7
	;;
	nop 0
	shr.u r15 = r15, 9
	;;
	.mii
	nop 0
	shl r14 = r15, 6
	;;
	sub r14 = r14, r15
	;;
	.mmi
	nop 0
	shladd r14 = r14, 4, r0
	nop 0
	;;
	.mmi
	add r14 = r14, r15
	;;
	sub r14 = r16, r14
	adds r16 = 7919, r16
	;;
	.mib
	st8 [r17] = r14, 8
	nop 0
	br.cloop.sptk.few .L210
	.mmi
	addl r52 = @ltoff(@fptr(below#)), gp
	mov r50 = r0
	addl r51 = 299, r0
	;;
	.mib
	ld8 r52 = [r52]
	nop 0
	br.call.sptk.many b0 = sort.constprop.0#
	;;
	.mmi
	addl r14 = 299, r0
	mov r1 = r49
	nop 0
	.mii
	mov r50 = r0
	nop 0
	;;
	mov ar.lc = r14
	.align 32
.L211:
	.mii
	nop 0
	shl r15 = r50, 5
	nop 0
	.mmi
	ld8 r14 = [r32], 8
	;;
	sub r50 = r15, r50
	nop 0
	;;
	.mib
	nop 0
	add r50 = r50, r14
	br.cloop.sptk.few .L211
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mmb
	addl r8 = 5, r0
	mov r1 = r49
	nop 0
	.mmi
	adds r18 = 168, r12
	nop 0
	mov b0 = r47
	;;
	.mmi
	ld8 r19 = [r18], 8
	nop 0
	mov ar.pfs = r48
	;;
	.mmi
	nop 0
	ldf.fill f2 = [r18]
	mov ar.lc = r19
	.mmb
	nop 0
	.label_state 1
	.restore sp
	adds r12 = 176, r12
	br.ret.sptk.many b0
.L218:
	.body
	.copy_state 1
	.mmi
	ld8 r14 = [r14]
	adds r51 = 3, r32
	adds r32 = 1, r32
	;;
	.mmi
	nop 0
	ld8 r15 = [r14], 8
	nop 0
	;;
	.mib
	ld8 r1 = [r14]
	mov b6 = r15
	br.call.sptk.many b0 = b6
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 1
	mov r1 = r49
	.mmb
	nop 0
	mov r50 = r8
	nop 0
	;;
	.mib
	nop 0
	add r14 = r33, r14
	br.cloop.sptk.few .L218
	.mib
	nop 0
	nop 0
	br .L223
.L222:
	.mib
	adds r51 = -1, r8
	addl r50 = 1, r0
	br.call.sptk.many b0 = ackermann#
	;;
	.mmi
	mov r1 = r49
	nop 0
	adds r50 = 1, r8
	;;
	.mlx
	nop 0
	movl r32 = @gprel(numbers#)
	;;
	.mib
	add r32 = r1, r32
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mlx
	addl r14 = 299, r0
	movl r15 = -9086255505087856445
	.mmi
	mov r1 = r49
	mov r17 = r32
	mov r16 = r0
	;;
	.mib
	setf.sig f6 = r15
	mov ar.lc = r14
	br .L208
	.endp program#
	.bss
	.align 8
	.type	numbers#, @object
	.size	numbers#, 2400
numbers:
	.skip	2400
	.ident	"GCC: (GNU) 12.2.0"
