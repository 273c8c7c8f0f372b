	.file	"integers.c"
	.pred.safe_across_calls p1-p5,p16-p63
	.text
	.section	.rodata.str1.8,"aMS",@progbits,1
	.align 8
.LC1:
	stringz	"integers\n"
	.align 8
.LC2:
	stringz	"123456789"
	.sdata
	.align 8
.LC0:
	data8	crc_table#+1024
	.text
	.align 16
	.align 64
	.global program#
	.type	program#, @function
	.proc program#
program:
	.prologue 12, 39
	.mmi
	.save ar.pfs, r40
	alloc r40 = ar.pfs, 0, 11, 8, 0
	mov r41 = r1
	.save ar.lc, r42
	mov r42 = ar.lc
	.mlx
	addl r22 = @gprel(.LC0), gp
	movl r38 = @gprel(crc_table#)
	;;
	.mmi
	nop 0
	add r38 = r1, r38
	.save rp, r39
	mov r39 = b0
	.body
	.mlx
	nop 0
	movl r20 = 4294967296
	;;
	.mlx
	mov r19 = r38
	movl r21 = 8589934594
	.mlx
	nop 0
	movl r18 = 4294967297
	;;
	.mlx
	nop 0
	movl r17 = -1317158713555385568
	.align 32
.L2:
	.mmi
	mov r14 = r20
	padd4 r20 = r20, r21
	mov ar.lc = 7
	;;
	.align 32
.L3:
	.mii
	and r15 = r18, r14
	pshr4.u r14 = r14, 1
	;;
	pcmp4.eq r15 = r15, r0
	.mmi
	xor r16 = r17, r14
	;;
	and r14 = r14, r15
	andcm r15 = r16, r15
	;;
	.mib
	nop 0
	or r14 = r15, r14
	br.cloop.sptk.few .L3
	;;
	.mmi
	st8 [r19] = r14, 8
	ld8 r14 = [r22]
	nop 0
	;;
	.mib
	nop 0
	cmp.eq p6, p7 = r14, r19
	(p7) br.cond.sptk .L2
	.mlx
	nop 0
	movl r43 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	nop 0
	br.call.sptk.many b0 = put#
	;;
	.mmb
	mov r1 = r41
	addl r16 = -1, r0
	nop 0
	.mmi
	addl r18 = 255, r0
	nop 0
	mov ar.lc = 8
	;;
	.mlx
	nop 0
	movl r17 = @gprel(.LC2)
	;;
	.mmi
	add r17 = r1, r17
	nop 0
	nop 0
	;;
.L5:
	.mii
	ld1 r14 = [r17], 1
	extr.u r15 = r16, 8, 24
	;;
	xor r14 = r16, r14
	;;
	.mmi
	and r14 = r18, r14
	;;
	addp4 r14 = r14, r0
	nop 0
	;;
	.mmi
	shladd r14 = r14, 2, r0
	;;
	add r14 = r38, r14
	nop 0
	;;
	.mmi
	ld4 r14 = [r14]
	;;
	xor r14 = r14, r15
	nop 0
	;;
	.mib
	nop 0
	mov r16 = r14
	br.cloop.sptk.few .L5
	.mmi
	andcm r14 = -1, r14
	nop 0
	addl r34 = 4, r0
	.mmi
	mov r36 = r0
	nop 0
	mov r33 = r0
	;;
	.mib
	addp4 r43 = r14, r0
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mlx
	mov r1 = r41
	movl r14 = -1085102592571150095
	.mmi
	addl r47 = 3, r0
	addl r22 = 2, r0
	addl r24 = 1, r0
	;;
	.mmi
	setf.sig f7 = r14
	addl r14 = 4999, r0
	addl r2 = @gprel(state#), gp
	.mlx
	mov r45 = r0
	movl r10 = @gprel(bytes.0#)
	;;
	.mib
	nop 0
	mov ar.lc = r14
	nop 0
	.mlx
	ld8 r21 = [r2]
	movl r14 = 2361183241434822607
	;;
	.mlx
	setf.sig f6 = r14
	movl r11 = @gprel(CSWTCH.17#)
	.mmi
	add r10 = r1, r10
	nop 0
	addl r9 = 2047, r0
	;;
	.mlx
	add r11 = r1, r11
	movl r8 = 35184372088831
	.align 32
.L7:
	.mii
	nop 0
	shl r14 = r21, 13
	shl r16 = r33, 5
	.mmb
	and r15 = 63, r45
	addp4 r22 = r22, r0
	nop 0
	;;
	.mmi
	xor r14 = r21, r14
	sub r33 = r16, r33
	adds r45 = 1, r45
	;;
	.mii
	nop 0
	shr.u r16 = r14, 7
	;;
	xor r16 = r14, r16
	;;
	.mii
	nop 0
	shl r14 = r16, 17
	nop 0
	;;
	.mii
	xor r14 = r16, r14
	nop 0
	;;
	shl r19 = r14, 13
	.mmi
	setf.sig f8 = r14
	setf.sig f9 = r14
	zxt1 r25 = r14
	;;
	.mii
	xor r19 = r14, r19
	sxt4 r17 = r14
	shr.u r32 = r14, 5
	.mmb
	nop 0
	add r24 = r24, r25
	nop 0
	;;
	.mii
	nop 0
	popcnt r27 = r14
	shr.u r18 = r19, 7
	.mmb
	add r32 = r32, r47
	and r37 = 7, r24
	nop 0
	;;
	.mii
	xor r18 = r19, r18
	shrp r26 = r14, r14, 51
	mov r24 = r37
	;;
	.mii
	nop 0
	extr r32 = r32, 0, 7
	shl r21 = r18, 17
	;;
	.mfi
	xor r21 = r18, r21
	xmpy.hu f8 = f8, f7
	sxt1 r32 = r32
	;;
	.mmi
	mov r47 = r32
	;;
	nop 0
	shr.u r15 = r21, r15
	;;
	.mmi
	getf.sig r16 = f8
	setf.sig f8 = r14
	nop 0
	;;
	.mmi
	setf.sig f10 = r15
	cmp.gt p8, p9 = r15, r14
	zxt1 r20 = r15
	.mmi
	cmp4.ltu p10, p11 = r14, r15
	cmp.ltu p12, p13 = r14, r15
	zxt2 r46 = r15
	;;
	.mmi
	xor r28 = r14, r15
	add r31 = r46, r14
	sub r23 = r25, r20
	.mmi
	and r18 = 31, r15
	and r30 = 47, r15
	and r29 = 63, r15
	;;
	.mmi
	(p10) addl r44 = 1, r0
	xor r43 = r20, r25
	zxt2 r31 = r31
	.mmi
	(p12) addl r48 = 1, r0
	xor r22 = r46, r22
	zxt1 r23 = r23
	;;
	.mmi
	add r23 = r23, r31
	(p11) mov r44 = r0
	sxt2 r49 = r15
	.mmi
	(p13) mov r48 = r0
	addp4 r20 = r20, r0
	sxt1 r43 = r43
	;;
	.mib
	nop 0
	shr.u r19 = r16, 4
	nop 0
	.mmi
	and r16 = -16, r16
	shladd r44 = r44, 2, r0
	shl r18 = r14, r18
	;;
	.mfi
	nop 0
	xmpy.hu f9 = f9, f10
	add r19 = r16, r19
	.mmi
	(p8) addl r16 = 1, r0
	add r17 = r17, r49
	shr.u r30 = r14, r30
	;;
	.mmi
	(p9) mov r16 = r0
	cmp4.ge p8, p9 = r15, r14
	nop 0
	.mmi
	add r17 = r17, r43
	sub r19 = r14, r19
	and r35 = r9, r22
	;;
	.mmi
	shladd r16 = r16, 1, r0
	(p8) addl r31 = 1, r0
	cmp.eq p6, p7 = 16, r19
	.mmi
	mov r22 = r35
	;;
	xor r18 = r30, r18
	(p9) mov r31 = r0
	.mmi
	add r16 = r16, r44
	nop 0
	(p7) shladd r19 = r19, 2, r0
	;;
	.mmi
	getf.sig r50 = f9
	setf.sig f9 = r28
	add r16 = r16, r48
	.mii
	shladd r31 = r31, 3, r0
	(p7) add r19 = r11, r19
	;;
	add r16 = r16, r31
	;;
	.mii
	nop 0
	sxt4 r16 = r16
	nop 0
	;;
	.mfb
	nop 0
	xma.l f10 = f10, f8, f9
	nop 0
	.mii
	setf.sig f9 = r23
	shr r23 = r14, r29
	add r27 = r27, r50
	;;
	.mmi
	nop 0
	xor r18 = r23, r18
	nop 0
	;;
	.mmi
	getf.sig r28 = f10
	setf.sig f10 = r15
	nop 0
	;;
	.mfi
	nop 0
	xma.l f9 = f8, f10, f9
	add r18 = r18, r28
	;;
	.mmi
	getf.sig r15 = f9
	;;
	addp4 r15 = r15, r0
	nop 0
	;;
	.mii
	add r15 = r15, r18
	nop 0
	;;
	xor r15 = r15, r17
	.mmi
	(p7) ld4 r17 = [r19]
	;;
	add r15 = r15, r27
	(p7) sxt4 r17 = r17
	;;
	.mmi
	add r15 = r16, r15
	shladd r16 = r14, 1, r0
	(p6) addl r17 = 2, r0
	;;
	.mmi
	xor r15 = r15, r26
	add r16 = r16, r14
	add r36 = r36, r17
	;;
	.mii
	add r33 = r15, r33
	shr.u r15 = r14, 3
	add r34 = r16, r34
	;;
	.mmi
	setf.sig f10 = r15
	nop 0
	and r34 = r8, r34
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f10 = f10, f6
	;;
	.mmi
	getf.sig r15 = f10
	;;
	nop 0
	shr.u r15 = r15, 4
	;;
	.mii
	nop 0
	shl r16 = r15, 5
	;;
	sub r16 = r16, r15
	;;
	.mmi
	shladd r16 = r16, 2, r0
	;;
	add r15 = r16, r15
	nop 0
	;;
	.mmi
	shladd r15 = r15, 3, r0
	;;
	sub r15 = r14, r15
	nop 0
	;;
	.mmi
	add r15 = r10, r15
	;;
	ld1 r14 = [r15]
	nop 0
	;;
	.mmi
	nop 0
	xor r20 = r14, r20
	nop 0
	;;
	.mib
	st1 [r15] = r20
	nop 0
	br.cloop.sptk.few .L7
	.mib
	st8 [r2] = r21
	mov r43 = r33
	br.call.sptk.many b0 = put_hex#
	;;
	.mib
	mov r1 = r41
	mov r43 = r36
	br.call.sptk.many b0 = put_hex#
	;;
	.mii
	shladd r14 = r32, 1, r0
	shl r43 = r35, 8
	mov r1 = r41
	;;
	.mmi
	add r14 = r14, r32
	;;
	add r43 = r43, r14
	nop 0
	;;
	.mmi
	nop 0
	add r43 = r43, r37
	nop 0
	;;
	.mib
	add r43 = r43, r34
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mmi
	mov r1 = r41
	nop 0
	addl r14 = 999, r0
	.mmi
	addl r16 = -1, r0
	nop 0
	addl r18 = 255, r0
	;;
	.mlx
	nop 0
	movl r17 = @gprel(bytes.0#)
	;;
	.mmi
	nop 0
	add r17 = r1, r17
	mov ar.lc = r14
	;;
.L8:
	.mii
	ld1 r14 = [r17], 1
	extr.u r15 = r16, 8, 24
	;;
	xor r14 = r16, r14
	;;
	.mmi
	and r14 = r18, r14
	;;
	addp4 r14 = r14, r0
	nop 0
	;;
	.mmi
	shladd r14 = r14, 2, r0
	;;
	add r14 = r38, r14
	nop 0
	;;
	.mmi
	ld4 r14 = [r14]
	;;
	xor r14 = r14, r15
	nop 0
	;;
	.mib
	nop 0
	mov r16 = r14
	br.cloop.sptk.few .L8
	.mmi
	nop 0
	andcm r14 = -1, r14
	nop 0
	;;
	.mib
	addp4 r43 = r14, r0
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mlx
	setf.sig f6 = r33
	movl r15 = 5895351198814392785
	.mlx
	setf.sig f10 = r33
	movl r16 = 7666179355307865607
	;;
	.mlx
	setf.sig f7 = r15
	movl r14 = 896011011859258473
	.mmi
	setf.sig f8 = r33
	mov r1 = r41
	shr r43 = r33, 63
	;;
	.mmi
	nop 0
	setf.sig f9 = r14
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f7
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f8 = f8, f9
	;;
	.mmi
	getf.sig r15 = f6
	setf.sig f6 = r16
	nop 0
	;;
	.mmi
	nop 0
	getf.sig r14 = f8
	nop 0
	;;
	.mfi
	nop 0
	xmpy.h f10 = f10, f6
	sub r18 = r33, r15
	;;
	.mii
	nop 0
	shr.u r18 = r18, 1
	sub r17 = r33, r14
	;;
	.mmi
	add r15 = r15, r18
	nop 0
	shr.u r17 = r17, 1
	;;
	.mii
	nop 0
	shr.u r15 = r15, 6
	add r14 = r14, r17
	;;
	.mii
	getf.sig r16 = f10
	shr.u r14 = r14, 19
	;;
	shr r16 = r16, 5
	;;
	.mii
	sub r43 = r43, r16
	shladd r16 = r15, 1, r0
	;;
	add r16 = r16, r15
	;;
	.mii
	nop 0
	shl r16 = r16, 5
	;;
	add r15 = r16, r15
	;;
	.mmi
	sub r15 = r33, r15
	;;
	add r14 = r14, r15
	nop 0
	;;
	.mib
	add r43 = r14, r43
	nop 0
	br.call.sptk.many b0 = put_hex#
	;;
	.mmi
	and r8 = 63, r33
	mov r1 = r41
	mov b0 = r39
	;;
	.mii
	nop 0
	mov ar.pfs = r40
	nop 0
	;;
	.mib
	nop 0
	mov ar.lc = r42
	br.ret.sptk.many b0
	.endp program#
	.section	.rodata
	.align 4
	.type	CSWTCH.17#, @object
	.size	CSWTCH.17#, 64
CSWTCH.17:
	data4	5
	data4	77
	data4	-3
	data4	2
	data4	77
	data4	12
	data4	13
	data4	0
	data4	2
	data4	1000
	data4	1000
	data4	1000
	data4	2
	data4	2
	data4	2
	data4	4
	.bss
	.align 8
	.type	bytes.0#, @object
	.size	bytes.0#, 1000
bytes.0:
	.skip	1000
	.align 8
	.type	crc_table#, @object
	.size	crc_table#, 1024
crc_table:
	.skip	1024
	.section	.sdata,"aws"
	.align 8
	.type	state#, @object
	.size	state#, 8
state:
	data8	88172645463325252
	.ident	"GCC: (GNU) 12.2.0"
