// A program that counts its procedures. Some have unwind descriptors that no state of registers stands for: places
// that depend on predicates, frames of another convention, saves that unwinders take for something else.

	.text
	.global program#
	.proc program#
program:
	.prologue 12, 32
	.save ar.pfs, r33
	alloc r33 = ar.pfs, 0, 4, 0, 0
	.save rp, r32
	mov r32 = b0
	mov r34 = r0
	.body
	;;
	br.call.sptk.many b0 = plain#
	;;
	add r34 = r34, r8
	br.call.sptk.many b0 = predicated#
	;;
	add r34 = r34, r8
	br.call.sptk.many b0 = convention#
	;;
	add r34 = r34, r8
	br.call.sptk.many b0 = mistimed#
	;;
	add r34 = r34, r8
	br.call.sptk.many b0 = handles#
	;;
	add r34 = r34, r8
	br.call.sptk.many b0 = plain#
	;;
	add r8 = r34, r8
	mov b0 = r32
	mov ar.pfs = r33
	;;
	br.ret.sptk.many b0
	.endp program#

	.global plain#
	.proc plain#
plain:
	.prologue
	.save pr, r14
	mov r14 = pr
	.body
	cmp.eq p6, p7 = r8, r8
	;;
	(p7) br.cond.spnt .Lnever
	;;
	mov r8 = 1
	br.ret.sptk.many b0
	;;
.Lnever:
	mov r8 = 100
	br.ret.sptk.many b0
	.endp plain#

	.global predicated#
	.proc predicated#
predicated:
	.prologue
	cmp.eq p6, p7 = r8, r8
	;;
	.spillreg.p p6, r4, r14
	(p6) mov r14 = r4
	.spillpsp.p p7, r5, 16
	(p7) st8 [sp] = r5
	;;
	(p6) mov r4 = 1
	.body
	;;
	mov r8 = 1
	.restorereg.p p6, r4
	(p6) mov r4 = r14
	;;
	br.ret.sptk.many b0
	.endp predicated#

	.global convention#
	.proc convention#
convention:
	.prologue
	.unwabi @svr4, 0x73
	mov r14 = pr
	.body
	mov r8 = 1
	br.ret.sptk.many b0
	.endp convention#

// The assembler times these saves by a mask that unwinders take for one of spills to memory.
	.global mistimed#
	.proc mistimed#
mistimed:
	.prologue
	.save.g 0x3, r14
	mov r14 = r4
	mov r15 = r5
	.body
	mov r8 = 1
	br.ret.sptk.many b0
	.endp mistimed#

	.global handles#
	.proc handles#
	.personality plain#
handles:
	.prologue 12, 32
	.save ar.pfs, r33
	alloc r33 = ar.pfs, 0, 3, 0, 0
	.save rp, r32
	mov r32 = b0
	cmp.eq p6, p7 = r8, r8
	;;
	.spillreg.p p7, r4, r34
	(p7) mov r34 = r4
	.body
.Ltry:
	br.call.sptk.many b0 = plain#
	;;
.Ltry_end:
	mov b0 = r32
	mov ar.pfs = r33
	;;
	br.ret.sptk.many b0
	;;
.Lpad:
	mov r8 = 100
	br.cond.sptk .Ltry_end
	.handlerdata
	data1 0xff, 0xff, 1		// no LPStart, no types
	.uleb128 .Lactions - .Lrecords
.Lrecords:
	.uleb128 .Ltry - handles, .Ltry_end - .Ltry, .Lpad - handles, 1
.Lactions:
	data1 0, 0
	.text
	.endp handles#
