	.file	"throws.cc"
	.pred.safe_across_calls p1-p5,p16-p63
	.text
	.section	.text._ZN5GuardD2Ev,"axG",@progbits,_ZN5GuardD5Ev,comdat
	.align 16
	.align 64
	.weak	_ZN5GuardD2Ev#
	.proc _ZN5GuardD2Ev#
_ZN5GuardD2Ev:
[.LFB1:]
	.prologue 12, 33
	.mmi
	.save ar.pfs, r34
	alloc r34 = ar.pfs, 1, 3, 1, 0
	mov r35 = r1
	.save rp, r33
	mov r33 = b0
	.body
	;;
	.mib
	addl r36 = 1, r0
	nop 0
	br.call.sptk.many b0 = plain#
	;;
	.mmi
	ld8 r15 = [r32]
	mov r1 = r35
	mov b0 = r33
	;;
	.mii
	nop 0
	mov ar.pfs = r34
	nop 0
	;;
	.mmi
	ld4 r14 = [r15]
	;;
	add r14 = r14, r8
	nop 0
	;;
	.mib
	st4 [r15] = r14
	nop 0
	br.ret.sptk.many b0
	.global __gxx_personality_v0#
	.personality	__gxx_personality_v0#
	.handlerdata
.LLSDA1:
	data1	0xff
	data1	0xff
	data1	0x1
	.uleb128 .LLSDACSE1-.LLSDACSB1
.LLSDACSB1:
.LLSDACSE1:
	.section	.text._ZN5GuardD2Ev,"axG",@progbits,_ZN5GuardD5Ev,comdat
	.endp _ZN5GuardD2Ev#
	.weak	_ZN5GuardD1Ev#
_ZN5GuardD1Ev# = _ZN5GuardD2Ev#
	.text
	.align 16
	.align 64
	.proc _ZL6caughti#
_ZL6caughti:
[.LFB3:]
	.prologue 12, 36
	.mmi
	.save ar.pfs, r37
	alloc r37 = ar.pfs, 1, 6, 1, 0
	.fframe 16
	adds r12 = -16, r12
	.save rp, r36
	mov r36 = b0
	.mii
	mov r38 = r1
	.body
	mov r39 = r32
	;;
	adds r33 = 24, r12
	;;
	.mib
	st4 [r33] = r0
	nop 0
[.LEHB0:]
	br.call.sptk.many b0 = plain#
[.LEHE0:]
	;;
	.mmi
	ld4 r14 = [r33]
	nop 0
	adds r15 = 16, r12
	.mmi
	mov r1 = r38
	nop 0
	mov r39 = r32
	;;
	.mmi
	add r14 = r14, r8
	st8 [r15] = r33
	nop 0
	;;
	.mib
	st4 [r33] = r14
	nop 0
[.LEHB1:]
	br.call.sptk.many b0 = plain#
	;;
	.mii
	ld4 r14 = [r33]
	mov r1 = r38
	;;
	add r8 = r8, r14
	;;
	.mib
	st4 [r33] = r8
	cmp4.ge p6, p7 = 2, r8
	(p6) br.cond.dptk .L4
	.mib
	addl r39 = 1, r0
	nop 0
	br.call.sptk.many b0 = plain#
[.LEHE1:]
	;;
	.mii
	ld4 r14 = [r33]
	mov r1 = r38
	;;
	add r14 = r14, r8
	.mmi
	nop 0
	;;
	st4 [r33] = r14
	nop 0
.L4:
	.mib
	addl r39 = 1, r0
	nop 0
	br.call.sptk.many b0 = plain#
	;;
	.mmi
	ld4 r14 = [r33]
	nop 0
	mov r1 = r38
	;;
	.mii
	add r8 = r8, r14
	mov b0 = r36
	;;
	mov ar.pfs = r37
	.mmb
	nop 0
	.label_state 1
	.restore sp
	adds r12 = 16, r12
	br.ret.sptk.many b0
.L11:
	.body
	.copy_state 1
	.mmi
	nop 0
	mov r1 = r38
	mov r39 = r15
	.mmb
	nop 0
	cmp.ne p6, p7 = 1, r16
	(p6) br.cond.spnt .L7
	;;
.L17:
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = __cxa_begin_catch#
	;;
	.mmi
	nop 0
	mov r1 = r38
	nop 0
	.mmb
	ld4 r39 = [r8]
	nop 0
[.LEHB2:]
	br.call.sptk.many b0 = plain#
[.LEHE2:]
	;;
	.mii
	ld4 r14 = [r33]
	mov r1 = r38
	;;
	add r14 = r14, r8
	;;
	.mib
	st4 [r33] = r14
	nop 0
	br.call.sptk.many b0 = __cxa_end_catch#
	;;
	.mmi
	ld4 r8 = [r33]
	mov r1 = r38
	mov b0 = r36
	;;
	.mii
	nop 0
	mov ar.pfs = r37
	nop 0
	.mmb
	.label_state 2
	.restore sp
	adds r12 = 16, r12
	nop 0
	br.ret.sptk.many b0
	;;
.L12:
	.body
	.copy_state 2
	.mmi
	mov r1 = r38
	adds r39 = 16, r12
	nop 0
	.mmb
	mov r34 = r15
	mov r35 = r16
	br.call.sptk.many b0 = _ZN5GuardD1Ev#
	;;
	.mmi
	mov r16 = r35
	mov r1 = r38
	mov r39 = r34
	;;
	.mib
	nop 0
	cmp.ne p6, p7 = 1, r16
	(p7) br.cond.spnt .L17
.L7:
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = __cxa_begin_catch#
	;;
	.mib
	mov r1 = r38
	addl r39 = 2, r0
[.LEHB3:]
	br.call.sptk.many b0 = plain#
[.LEHE3:]
	;;
	.mii
	ld4 r14 = [r33]
	mov r1 = r38
	;;
	add r14 = r14, r8
	;;
	.mib
	st4 [r33] = r14
	nop 0
[.LEHB4:]
	br.call.sptk.many b0 = __cxa_end_catch#
	;;
	.mmi
	ld4 r8 = [r33]
	mov r1 = r38
	mov b0 = r36
	;;
	.mii
	nop 0
	mov ar.pfs = r37
	nop 0
	.mmb
	.label_state 3
	.restore sp
	adds r12 = 16, r12
	nop 0
	br.ret.sptk.many b0
	;;
.L13:
	.body
	.copy_state 3
	.mib
	mov r33 = r15
	mov r1 = r38
	br.call.sptk.many b0 = __cxa_end_catch#
	;;
	.mib
	mov r1 = r38
	mov r39 = r33
	br.call.sptk.many b0 = _Unwind_Resume#
[.LEHE4:]
	;;
.L14:
	.mib
	mov r33 = r15
	mov r1 = r38
	br.call.sptk.many b0 = __cxa_end_catch#
	;;
	.mib
	mov r1 = r38
	mov r39 = r33
[.LEHB5:]
	br.call.sptk.many b0 = _Unwind_Resume#
[.LEHE5:]
	;;
	break.f 0
	;;
	.personality	__gxx_personality_v0#
	.handlerdata
	.align 8
.LLSDA3:
	data1	0xff
	data1	0xb4
	.uleb128 .LLSDATT3-.LLSDATTD3
.LLSDATTD3:
	data1	0x1
	.uleb128 .LLSDACSE3-.LLSDACSB3
.LLSDACSB3:
	.uleb128 .LEHB0-.LFB3
	.uleb128 .LEHE0-.LEHB0
	.uleb128 .L11-.LFB3
	.uleb128 0x3
	.uleb128 .LEHB1-.LFB3
	.uleb128 .LEHE1-.LEHB1
	.uleb128 .L12-.LFB3
	.uleb128 0x5
	.uleb128 .LEHB2-.LFB3
	.uleb128 .LEHE2-.LEHB2
	.uleb128 .L13-.LFB3
	.uleb128 0
	.uleb128 .LEHB3-.LFB3
	.uleb128 .LEHE3-.LEHB3
	.uleb128 .L14-.LFB3
	.uleb128 0
	.uleb128 .LEHB4-.LFB3
	.uleb128 .LEHE4-.LEHB4
	.uleb128 0
	.uleb128 0
	.uleb128 .LEHB5-.LFB3
	.uleb128 .LEHE5-.LEHB5
	.uleb128 0
	.uleb128 0
.LLSDACSE3:
	data1	0x2
	data1	0
	data1	0x1
	data1	0x7d
	data1	0
	data1	0x7d
	.align 8
	data8.ua	0

	data8.ua	@gprel(DW.ref._ZTIi#)
.LLSDATT3:
	.text
	.endp _ZL6caughti#
	.align 16
	.align 64
	.proc _ZL7cleanedi.constprop.0#
_ZL7cleanedi.constprop.0:
[.LFB7:]
	.prologue 12, 35
	.mmi
	.save ar.pfs, r36
	alloc r36 = ar.pfs, 0, 6, 1, 0
	.fframe 16
	adds r12 = -16, r12
	.save rp, r35
	mov r35 = b0
	.mmi
	nop 0
	mov r37 = r1
	.body
	nop 0
	;;
	.mmi
	adds r34 = 24, r12
	adds r14 = 16, r12
	mov r33 = r0
	;;
	.mmi
	st4 [r34] = r0
	st8 [r14] = r34
	nop 0
	.align 32
.L19:
	.mib
	mov r38 = r33
	nop 0
[.LEHB6:]
	br.call.sptk.many b0 = plain#
[.LEHE6:]
	;;
	.mmi
	ld4 r14 = [r34]
	adds r33 = 1, r33
	mov r1 = r37
	;;
	.mmi
	add r32 = r8, r14
	nop 0
	cmp4.ne p6, p7 = 3, r33
	;;
	.mib
	st4 [r34] = r32
	nop 0
	(p6) br.cond.dptk .L19
	.mib
	addl r38 = 1, r0
	nop 0
	br.call.sptk.many b0 = plain#
	;;
	.mmi
	mov r8 = r32
	mov r1 = r37
	mov b0 = r35
	;;
	.mii
	nop 0
	mov ar.pfs = r36
	nop 0
	.mmb
	.label_state 1
	.restore sp
	adds r12 = 16, r12
	nop 0
	br.ret.sptk.many b0
	;;
.L21:
	.body
	.copy_state 1
	.mmi
	mov r32 = r15
	nop 0
	mov r1 = r37
	.mmb
	adds r38 = 16, r12
	nop 0
	br.call.sptk.many b0 = _ZN5GuardD1Ev#
	;;
	.mib
	mov r1 = r37
	mov r38 = r32
[.LEHB7:]
	br.call.sptk.many b0 = _Unwind_Resume#
[.LEHE7:]
	;;
	break.f 0
	;;
	.personality	__gxx_personality_v0#
	.handlerdata
.LLSDA7:
	data1	0xff
	data1	0xff
	data1	0x1
	.uleb128 .LLSDACSE7-.LLSDACSB7
.LLSDACSB7:
	.uleb128 .LEHB6-.LFB7
	.uleb128 .LEHE6-.LEHB6
	.uleb128 .L21-.LFB7
	.uleb128 0
	.uleb128 .LEHB7-.LFB7
	.uleb128 .LEHE7-.LEHB7
	.uleb128 0
	.uleb128 0
.LLSDACSE7:
	.text
	.endp _ZL7cleanedi.constprop.0#
	.align 16
	.align 64
	.global program#
	.type	program#, @function
	.proc program#
program:
[.LFB5:]
	.prologue 12, 33
	.mmi
	.save ar.pfs, r34
	alloc r34 = ar.pfs, 0, 4, 1, 0
	mov r35 = r1
	.save rp, r33
	mov r33 = b0
	.body
	;;
	.mib
	addl r36 = 1, r0
	nop 0
	br.call.sptk.many b0 = _ZL6caughti#
	;;
	.mmi
	mov r1 = r35
	nop 0
	addl r36 = 2, r0
	.mmb
	mov r32 = r8
	nop 0
	br.call.sptk.many b0 = _ZL6caughti#
	;;
	.mib
	mov r1 = r35
	add r32 = r32, r8
	br.call.sptk.many b0 = _ZL7cleanedi.constprop.0#
	;;
	.mmi
	mov r1 = r35
	add r8 = r32, r8
	mov b0 = r33
	;;
	.mib
	nop 0
	mov ar.pfs = r34
	br.ret.sptk.many b0
	.endp program#
	.hidden	DW.ref._ZTIi#
	.weak	DW.ref._ZTIi#
	.section	.sdata.DW.ref._ZTIi,"awsG",@progbits,DW.ref._ZTIi,comdat
	.align 8
	.type	DW.ref._ZTIi#, @object
	.size	DW.ref._ZTIi#, 8
DW.ref._ZTIi:
	data8	_ZTIi#
	.ident	"GCC: (GNU) 12.2.0"
