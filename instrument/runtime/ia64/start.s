// instrument/runtime/start.c, compiled by gcc 12.2.0 for ia64-linux-gnu, which Debian does not have: the
// assembler, which it has, makes the start code from this. To make it anew, in the folder of the project:
//   ia64-linux-gnu-gcc -std=gnu11 -O2 -ffreestanding -fno-builtin -fno-stack-protector
//     -fno-strict-aliasing -fno-tree-loop-distribute-patterns -fno-asynchronous-unwind-tables
//     -fno-unwind-tables -I. -Iinstrument/runtime/ia64 -S instrument/runtime/start.c
	.file	"start.c"
	.pred.safe_across_calls p1-p5,p16-p63
	.text
	.align 16
	.align 64
	.global respike_start#
	.type	respike_start#, @function
	.proc respike_start#
respike_start:
	.mmb
	alloc r16 = ar.pfs, 1, 20, 8, 0
	adds r38 = 16, r32
	nop 0
	.mmi
	adds r39 = 4140, r32
	nop 0
	mov r51 = pr
	;;
	.mmi
	nop 0
	ld8 r33 = [r38]
	mov r52 = ar.lc
	.mmi
	nop 0
	ld4 r37 = [r39]
	nop 0
	;;
	.mib
	nop 0
	cmp.ne p6, p7 = 0, r33
	(p7) br.cond.dptk .L3
	.mmi
	addl r15 = 1085, r0
	addl r53 = 1, r0
	mov r54 = r12
	.mmi
	mov r55 = r0
	mov r56 = r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mii
	cmp.ne p6, p7 = -1, r10
	addl r14 = -4096, r0
	;;
	(p7) sub r8 = r0, r8
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r14, r8
	(p6) br.cond.dptk .L3
	.mmi
	addp4 r37 = r37, r0
	ld8 r14 = [r12]
	nop 0
	;;
	.mmi
	nop 0
	add r37 = r37, r33
	nop 0
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r14, r37
	(p6) br.cond.dptk .L3
	.mmi
	addl r15 = 1151, r0
	mov r53 = r0
	addl r54 = 16384, r0
	.mmi
	addl r55 = 3, r0
	addl r56 = 34, r0
	addl r57 = -1, r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mii
	cmp.eq p6, p7 = -1, r10
	addl r14 = -4096, r0
	;;
	(p6) sub r35 = r0, r8
	;;
	.mmi
	nop 0
	(p7) mov r35 = r8
	nop 0
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r14, r35
	(p6) br.cond.dptk .L3
	.mmi
	addl r15 = 1041, r0
	mov r53 = r0
	mov r54 = r0
	.mmi
	mov r55 = r0
	mov r56 = r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mmi
	cmp.ne p6, p7 = -1, r10
	addl r14 = -4096, r0
	addl r15 = 1254, r0
	.mmi
	mov r53 = r0
	mov r54 = r12
	mov r55 = r0
	;;
	.mmi
	(p7) sub r50 = r0, r8
	nop 0
	mov r56 = r0
	.mii
	mov r57 = r0
	mov r58 = r0
	;;
	(p6) mov r50 = r8
	;;
	.mmi
	nop 0
	cmp.ltu p6, p7 = r14, r50
	nop 0
	;;
	.mlx
	(p7) addp4 r42 = r50, r0
	(p7) movl r14 = -3689348814741910323
	.mmi
	(p7) mov r43 = r50
	nop 0
	(p6) mov r50 = r0
	;;
	.mmi
	(p7) setf.sig f6 = r42
	(p7) setf.sig f7 = r14
	(p6) mov r42 = r0
	.mmi
	nop 0
	(p6) mov r43 = r0
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	(p7) xmpy.hu f6 = f6, f7
	;;
	.mmi
	(p7) getf.sig r42 = f6
	;;
	nop 0
	(p7) extr.u r42 = r42, 3, 32
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mmi
	cmp.ne p6, p7 = -1, r10
	addl r14 = -4096, r0
	mov r40 = r0
	.mmi
	adds r36 = 24, r32
	cmp4.geu p16, p17 = 9, r43
	addl r41 = 46, r0
	;;
	.mmi
	(p7) sub r8 = r0, r8
	addl r49 = 99, r0
	addl r48 = 111, r0
	.mmi
	addl r47 = 117, r0
	addl r46 = 110, r0
	addl r45 = 116, r0
	;;
	.mmi
	cmp.ltu p6, p7 = r14, r8
	nop 0
	addl r44 = 115, r0
	;;
	.mmi
	(p7) ld8 r16 = [r12]
	(p7) adds r14 = 8, r12
	(p6) mov r34 = r0
	;;
	.mii
	nop 0
	(p7) shl r15 = r16, 5
	nop 0
	.mmi
	(p7) ld8 r17 = [r14]
	;;
	(p7) sub r15 = r15, r16
	nop 0
	;;
	.mii
	nop 0
	(p7) shl r14 = r15, 6
	;;
	(p7) sub r14 = r14, r15
	;;
	.mmi
	(p7) shladd r14 = r14, 3, r0
	;;
	(p7) add r14 = r14, r16
	nop 0
	;;
	.mmi
	(p7) shladd r15 = r14, 2, r0
	;;
	(p7) add r14 = r14, r15
	nop 0
	;;
	.mmi
	(p7) shladd r15 = r14, 2, r0
	;;
	(p7) add r14 = r14, r15
	nop 0
	;;
	.mmi
	nop 0
	(p7) shladd r34 = r14, 2, r0
	nop 0
	;;
	.mlx
	(p7) add r34 = r14, r34
	movl r14 = -3689348814741910323
	;;
	.mii
	setf.sig f32 = r14
	(p7) shl r34 = r34, 9
	;;
	(p7) add r34 = r34, r17
	.align 32
.L32:
	.pred.rel.mutex p16, p17
	.mmi
	cmp4.ne p6, p7 = 0, r40
	ld4 r14 = [r36]
	nop 0
	.mmi
	mov r16 = r35
	adds r17 = 32, r32
	mov r15 = r0
	;;
	.mmi
	(p6) addl r18 = 1, r0
	;;
	(p7) mov r18 = r0
	cmp4.eq p6, p7 = 0, r14
	;;
	.mib
	add r34 = r34, r18
	(p6) mov r16 = r35
	(p6) br.cond.dpnt .L17
	.align 32
.L18:
	.pred.rel.mutex p16, p17
	.mmi
	nop 0
	ld1 r18 = [r17], 1
	adds r15 = 1, r15
	.mmi
	ld4.a r14 = [r36]
	;;
	st1 [r16] = r18
	adds r16 = 1, r16
	.mmb
	cmp4.gtu p6, p7 = r14, r15
	chk.a.clr r14, .L96
.L97:
	.pred.rel.mutex p6, p7
	.pred.rel.mutex p16, p17
	(p6) br.cond.dptk .L18
	;;
.L17:
	.pred.rel.mutex p16, p17
	.mib
	mov r14 = r42
	adds r19 = 1, r16
	(p16) br.cond.dpnt .L19
	;;
	.align 32
.L20:
	.pred.rel.mutex p16, p17
	.mmi
	addp4 r15 = r14, r0
	cmp4.ltu p6, p7 = 9, r14
	adds r19 = 1, r19
	;;
	.mmi
	nop 0
	setf.sig f6 = r15
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f32
	;;
	.mmi
	nop 0
	getf.sig r15 = f6
	nop 0
	;;
	.mib
	nop 0
	extr.u r14 = r15, 3, 32
	(p6) br.cond.dptk .L20
	;;
.L19:
	.pred.rel.mutex p16, p17
	.mmi
	cmp.ltu p6, p7 = r16, r19
	sub r14 = r19, r16, 1
	nop 0
	.mmb
	adds r18 = -1, r19
	mov r17 = r43
	(p7) br.cond.dpnt .L24
	;;
	.mii
	nop 0
	(p6) mov ar.lc = r14
	nop 0
	.align 32
.L23:
	.pred.rel.mutex p16, p17
	.mmi
	addp4 r14 = r17, r0
	;;
	setf.sig f7 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f7 = f7, f32
	;;
	.mmi
	getf.sig r16 = f7
	;;
	nop 0
	shr.u r16 = r16, 3
	;;
	.mii
	shladd r15 = r16, 2, r0
	mov r17 = r16
	;;
	add r15 = r15, r16
	;;
	.mmi
	shladd r15 = r15, 1, r0
	;;
	sub r14 = r14, r15
	nop 0
	;;
	.mmi
	nop 0
	adds r14 = 48, r14
	nop 0
	;;
	.mib
	st1 [r18] = r14, -1
	nop 0
	br.cloop.sptk.few .L23
	;;
.L24:
	.pred.rel.mutex p16, p17
	.mmi
	mov r15 = r19
	addl r17 = 60, r0
	mov ar.lc = 15
	.mmi
	nop 0
	;;
	st1 [r15] = r41, 1
	nop 0
	.align 32
.L22:
	.pred.rel.mutex p16, p17
	.mii
	addp4 r14 = r17, r0
	adds r17 = -4, r17
	;;
	shr.u r14 = r34, r14
	;;
	.mmi
	and r18 = 15, r14
	;;
	adds r16 = 87, r18
	cmp4.ltu p6, p7 = 9, r18
	;;
	.mmi
	(p7) adds r16 = 48, r18
	;;
	nop 0
	(p6) sxt1 r16 = r16
	;;
	.mib
	st1 [r15] = r16, 1
	nop 0
	br.cloop.sptk.few .L22
	;;
	.mmi
	adds r20 = 18, r19
	adds r21 = 17, r19
	adds r18 = 19, r19
	.mmi
	adds r17 = 20, r19
	adds r16 = 21, r19
	adds r15 = 22, r19
	;;
	.mmi
	nop 0
	adds r14 = 23, r19
	adds r19 = 24, r19
	.mmi
	st1 [r20] = r49
	st1 [r21] = r41
	addl r20 = 999, r0
	;;
	.mmi
	st1 [r18] = r48
	st1 [r17] = r47
	mov ar.lc = r20
	;;
	.mmi
	st1 [r16] = r46
	st1 [r15] = r45
	nop 0
	;;
	.mmi
	st1 [r14] = r44
	st1 [r19] = r0
	nop 0
	.align 32
.L30:
	.pred.rel.mutex p16, p17
	.mmi
	addl r15 = 1281, r0
	addl r53 = -100, r0
	mov r54 = r35
	.mmi
	addl r55 = 655554, r0
	addl r56 = 420, r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mii
	mov r33 = r8
	cmp.ne p6, p7 = -1, r10
	;;
	(p7) sub r33 = r0, r8
	;;
	.mbb
	cmp.ne p6, p7 = -4, r33
	(p6) br.cond.dpnt .L29
	br.cloop.sptk.few .L30
.L31:
	.mmi
	addl r15 = 1152, r0
	mov r53 = r35
	addl r54 = 16384, r0
	.mmi
	mov r55 = r0
	mov r56 = r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
.L3:
	.mmi
	adds r14 = 8, r32
	mov r8 = r0
	mov ar.lc = r52
	;;
	.mmi
	ld8 r14 = [r14]
	;;
	cmp.eq p6, p7 = 0, r14
	nop 0
	;;
	.mib
	(p7) add r8 = r32, r14
	mov pr = r51, -1
	br.ret.sptk.many b0
.L29:
	.pred.rel.mutex p16, p17
	.mmi
	adds r40 = 1, r40
	;;
	cmp4.ge p6, p7 = 15, r40
	nop 0
	;;
	.mib
	nop 0
	cmp.eq.and.orcm p6, p7 = -17, r33
	(p6) br.cond.sptk .L32
	.mmi
	nop 0
	addl r14 = 999, r0
	nop 0
	;;
	.mii
	nop 0
	mov ar.lc = r14
	addl r14 = -4096, r0
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r14, r33
	(p6) br.cond.spnt .L31
	.align 32
.L36:
	.mmi
	addl r15 = 1303, r0
	mov r53 = r33
	mov r54 = r0
	.mmi
	mov r55 = r0
	mov r56 = r37
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mii
	mov r14 = r8
	cmp.ne p6, p7 = -1, r10
	;;
	(p7) sub r14 = r0, r8
	;;
	.mbb
	cmp.ne p6, p7 = -4, r14
	(p6) br.cond.dpnt .L35
	br.cloop.sptk.few .L36
.L37:
	.mmi
	addl r15 = 1287, r0
	addl r53 = -100, r0
	mov r54 = r35
	.mmi
	mov r55 = r0
	mov r56 = r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
.L48:
	.mmi
	addl r15 = 1029, r0
	mov r53 = r33
	mov r54 = r0
	.mmi
	mov r55 = r0
	mov r56 = r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mmi
	addl r15 = 1152, r0
	mov r53 = r35
	addl r54 = 16384, r0
	.mmi
	mov r55 = r0
	mov r56 = r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mib
	nop 0
	nop 0
	br .L3
.L35:
	.mmi
	cmp.ne p6, p7 = -95, r14
	nop 0
	addl r15 = -4096, r0
	;;
	.mib
	cmp.ne.and.orcm p6, p7 = -38, r14
	nop 0
	(p7) br.cond.dpnt .L91
	;;
	.mib
	nop 0
	cmp.geu p6, p7 = r15, r14
	(p7) br.cond.dpnt .L37
.L47:
	.mmi
	ld4 r40 = [r39]
	addl r15 = 1151, r0
	mov r53 = r0
	.mmi
	addl r55 = 3, r0
	addl r56 = 1, r0
	mov r57 = r33
	;;
	.mmi
	nop 0
	ld8 r38 = [r38]
	mov r58 = r0
	.mmi
	ld8 r37 = [r32]
	;;
	add r39 = r40, r38
	nop 0
	;;
	.mmi
	nop 0
	mov r54 = r39
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mmi
	mov r36 = r8
	cmp.eq p6, p7 = -1, r10
	nop 0
	.mmb
	addl r20 = 519, r0
	adds r14 = 4136, r32
	(p6) br.cond.dpnt .L92
	;;
	.mmi
	sub r15 = r36, r32
	add r53 = r40, r36
	mov ar.lc = r20
	;;
	.mmi
	adds r17 = -4128, r15
	nop 0
	addl r15 = -4096, r0
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r15, r36
	(p6) br.cond.dpnt .L37
	.align 32
.L50:
	.mmi
	add r15 = r17, r14
	ld8 r16 = [r14], 8
	nop 0
	;;
	.mib
	st8 [r15] = r16
	nop 0
	br.cloop.sptk.few .L50
	.mmi
	add r37 = r32, r37
	adds r20 = 40, r36
	shr.u r16 = r38, 3
	.mmi
	addp4 r50 = r50, r0
	adds r19 = 48, r36
	adds r18 = 56, r36
	;;
	.mmi
	shladd r15 = r16, 3, r0
	cmp.ne p6, p7 = 0, r16
	mov r14 = r37
	.mmi
	st8 [r20] = r50
	st8 [r19] = r34
	sub r17 = r53, r37
	;;
	.mmi
	nop 0
	adds r15 = -8, r15
	nop 0
	.mmb
	st8 [r18] = r37
	nop 0
	(p7) br.cond.dpnt .L56
	;;
	.mii
	nop 0
	(p6) shr.u r15 = r15, 3
	;;
	(p6) mov ar.lc = r15
.L55:
	.mmi
	ld8 r15 = [r14]
	add r16 = r17, r14
	adds r14 = 8, r14
	;;
	.mmi
	nop 0
	cmp.eq p6, p7 = 0, r15
	nop 0
	;;
	.mib
	(p7) st8 [r16] = r15
	nop 0
	br.cloop.sptk.few .L55
.L56:
	.mmi
	nop 0
	adds r14 = 4128, r32
	nop 0
	;;
	;;
	.mmi
	ld8 r14 = [r14]
	addl r15 = 1156, r0
	mov r54 = r38
	.mmi
	mov r55 = r38
	addl r56 = 3, r0
	mov r57 = r37
	;;
	.mmi
	st8.rel [r36] = r14
	nop 0
	mov r58 = r0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = -1, r10
	(p6) br.cond.dpnt .L93
	;;
	.mmi
	(p7) mov r34 = r8
	nop 0
	nop 0
.L57:
	.mmi
	addl r14 = -4096, r0
	;;
	cmp.ltu p6, p7 = r14, r34
	nop 0
	;;
	.mib
	nop 0
	(p7) mov r39 = r40
	(p7) br.cond.dptk .L59
	.mmi
	addl r15 = 1151, r0
	mov r53 = r37
	mov r54 = r38
	.mmi
	addl r55 = 3, r0
	addl r56 = 1048610, r0
	addl r57 = -1, r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mii
	cmp.ne p6, p7 = -1, r10
	addl r14 = -4096, r0
	;;
	(p7) sub r53 = r0, r8
	;;
	.mmi
	(p6) mov r53 = r8
	;;
	cmp.ne p6, p7 = r53, r37
	nop 0
	;;
	.mmi
	(p6) addl r15 = 1, r0
	;;
	(p7) mov r15 = r0
	cmp.geu p6, p7 = r14, r53
	;;
	.mmi
	(p6) addl r14 = 1, r0
	;;
	(p7) mov r14 = r0
	nop 0
	;;
	.mmi
	nop 0
	and r14 = r15, r14
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r14
	(p7) br.cond.dpnt .L94
.L59:
	.mmi
	addl r15 = 1152, r0
	mov r53 = r36
	mov r54 = r39
	.mmi
	mov r55 = r0
	mov r56 = r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mmi
	nop 0
	addl r14 = -4096, r0
	nop 0
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r14, r34
	(p7) br.cond.dptk .L48
.L89:
	.mmi
	addl r15 = 1287, r0
	addl r53 = -100, r0
	mov r54 = r35
	.mmi
	mov r55 = r0
	mov r56 = r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mib
	nop 0
	nop 0
	br .L48
.L92:
	.mmi
	sub r36 = r0, r8
	addl r20 = 519, r0
	adds r14 = 4136, r32
	;;
	.mmi
	sub r15 = r36, r32
	add r53 = r40, r36
	mov ar.lc = r20
	;;
	.mmi
	adds r17 = -4128, r15
	nop 0
	addl r15 = -4096, r0
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r15, r36
	(p7) br.cond.dptk .L50
	.mib
	nop 0
	nop 0
	br .L37
.L93:
	.mib
	nop 0
	sub r34 = r0, r8
	br .L57
.L94:
	.mmi
	addl r15 = 1152, r0
	mov r54 = r38
	mov r55 = r0
	.mmi
	mov r56 = r0
	mov r57 = r0
	mov r58 = r0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mmi
	addl r15 = 1152, r0
	mov r53 = r36
	mov r54 = r39
	.mmi
	mov r55 = r0
	mov r56 = r0
	mov r57 = r0
	;;
	.mmi
	nop 0
	mov r58 = r0
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mmi
	nop 0
	addl r14 = -4096, r0
	nop 0
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r14, r34
	(p6) br.cond.dptk .L89
	.mib
	nop 0
	nop 0
	br .L48
	;;
.L91:
	.mmi
	mov r36 = r0
	addl r40 = 8192, r0
	cmp.ne p6, p7 = 0, r37
	.mmb
	addl r16 = 8192, r0
	addl r41 = 1000, r0
	(p7) br.cond.dpnt .L47
	;;
	.mmi
	sub r55 = r37, r36
	add r42 = r35, r16
	addl r15 = 1149, r0
	.mmi
	mov r53 = r33
	mov r56 = r36
	mov r57 = r0
	;;
	.mmi
	cmp.leu p6, p7 = r40, r55
	mov r54 = r42
	mov r58 = r0
	;;
	.mmi
	nop 0
	(p6) mov r55 = r40
	nop 0
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mii
	mov r14 = r8
	cmp.ne p6, p7 = -1, r10
	;;
	(p7) sub r14 = r0, r8
	;;
	.mib
	nop 0
	cmp.ge p6, p7 = 0, r14
	(p6) br.cond.dpnt .L95
	;;
	.mmi
	(p7) add r36 = r36, r14
	nop 0
	nop 0
	;;
	.align 32
.L45:
	.mib
	nop 0
	cmp.ltu p6, p7 = r36, r37
	(p7) br.cond.dpnt .L47
.L90:
	.mmi
	sub r55 = r37, r36
	addl r15 = 1149, r0
	mov r53 = r33
	.mmi
	mov r54 = r42
	mov r56 = r36
	mov r57 = r0
	;;
	.mii
	cmp.leu p6, p7 = r40, r55
	mov r58 = r0
	;;
	(p6) mov r55 = r40
	;;
#APP
// 19 "instrument/runtime/ia64/system_call.h" 1
	break 0x100000;;
// 0 "" 2
#NO_APP
	;;
	.mii
	mov r14 = r8
	cmp.ne p6, p7 = -1, r10
	;;
	(p7) sub r14 = r0, r8
	;;
	.mmi
	nop 0
	cmp.ge p6, p7 = 0, r14
	nop 0
	;;
	.mib
	nop 0
	(p7) add r36 = r36, r14
	(p7) br.cond.dptk .L45
.L95:
	.mib
	adds r41 = -1, r41
	cmp.ne p6, p7 = -4, r14
	(p6) br.cond.dpnt .L37
	;;
	.mib
	cmp4.eq p6, p7 = 0, r41
	nop 0
	(p6) br.cond.dpnt .L37
	;;
	.mib
	nop 0
	cmp.ltu p6, p7 = r36, r37
	(p6) br.cond.dptk .L90
	.mib
	nop 0
	nop 0
	br .L47
.L96:
	.pred.rel.mutex p16, p17
	.mmi
	nop 0
	ld4 r14 = [r36]
	nop 0
	;;
	.mib
	nop 0
	cmp4.gtu p6, p7 = r14, r15
	br .L97
	.endp respike_start#
	.ident	"GCC: (GNU) 12.2.0"
