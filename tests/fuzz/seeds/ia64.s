// A program for Itanium, with the shapes lifting needs: calls in both ways, a jump table, labels whose addresses are
// taken, speculation with its recovery, loops, a long branch, and frames with everything that describes them.

	.text
	.explicit
	.global throws#
	.proc throws#
	.personality handler#
throws:
	.prologue 12, 32
	{ .mii
	.save ar.pfs, r33
	alloc r33 = ar.pfs, 1, 4, 1, 0
	.save rp, r32
	mov r32 = b0
	nop 0
	}
	{ .mmi
	.fframe 32
	adds r12 = -32, r12
	mov r35 = r1
	.save pr, r34
	mov r34 = pr ;;
	}
	{ .mmi
	.spillsp r4, 16
	st8.spill [r12] = r4
	adds r14 = 8, r12
	nop 0 ;;
	}
	.body
.Ltry:
	{ .mib
	nop 0
	mov r36 = r35
	br.call.sptk.many b0 = choose# ;;
	}
.Ltry_end:
	{ .mib
	mov r1 = r35
	cmp.eq p6, p7 = 0, r8
	(p6) br.cond.dpnt .Lleave ;;
	}
.Lindirect:
	{ .mmi
	ld8 r15 = [r14], 8 ;;
	ld8 r1 = [r14]
	mov b6 = r15 ;;
	}
	{ .mib
	nop 0
	nop 0
	br.call.sptk.many b0 = b6 ;;
	}
.Lindirect_end:
	{ .mii
	mov r1 = r35
	nop 0
	nop 0 ;;
	}
.Lleave:
	.label_state 1
	{ .mii
	nop 0
	mov b0 = r32
	mov.i ar.pfs = r33 ;;
	}
	{ .mib
	.restore sp
	adds r12 = 32, r12
	mov pr = r34, -1
	br.ret.sptk.many b0 ;;
	}
	.body
	.copy_state 1
.Lpad:
	{ .mib
	mov r1 = r35
	mov r36 = r8
	br.call.sptk.many b0 = loops# ;;
	}
	{ .mib
	mov r1 = r35
	cmp.eq p6, p7 = 1, r9
	br.cond.sptk .Lleave ;;
	}
	.handlerdata
	data1 0xff, 0xb4		// no LPStart; types: words from gp, indirect
	.uleb128 .Ltypes - .Lsites
.Lsites:
	data1 1
	.uleb128 .Lactions - .Lrecords
.Lrecords:
	.uleb128 .Ltry - throws, .Ltry_end - .Ltry, .Lpad - throws, 1
	.uleb128 .Lindirect - throws, .Lindirect_end - .Lindirect, 0, 0
.Lactions:
	data1 1, 0
	.align 8
	data8 @gprel(type#)
.Ltypes:
	.text
	.endp throws#

	.global choose#
	.proc choose#
choose:
	.prologue
	.body
	{ .mmi
	cmp.ltu p6, p7 = 3, r32
	addl r14 = @ltoffx(table#), r1
	nop 0 ;;
	}
	{ .mib
	ld8.mov r14 = [r14], table#
	nop 0
	nop 0 ;;
	}
	{ .mib
	shladd r14 = r32, 3, r14
	nop 0
	(p6) br.cond.spnt .Ldefault ;;
	}
	{ .mmi
	ld8 r15 = [r14] ;;
	add r15 = r15, r14
	nop 0 ;;
	}
	{ .mib
	nop 0
	mov b6 = r15
	br b6 ;;
	}
.Lcase0:
	{ .mib
	mov r8 = 5
	nop 0
	br.ret.sptk.many b0 ;;
	}
.Lcase1:
	{ .mlx
	nop 0
	movl r8 = 0x123456789abcdef
	}
	{ .mib
	nop 0
	nop 0
	br.ret.sptk.many b0 ;;
	}
.Lcase2:
	{ .mlx
	ld8.s r16 = [r14]
	movl r17 = @gprel(type#) ;;
	}
	{ .mib
	chk.s.m r16, .Lrecover
	add r17 = r17, r1
	nop 0 ;;
	}
.Lrecovered:
	{ .mib
	add r8 = r16, r17
	nop 0
	br.ret.sptk.many b0 ;;
	}
.Lrecover:
	{ .mib
	ld8 r16 = [r14]
	nop 0
	br.cond.sptk .Lrecovered ;;
	}
.Ldefault:
	{ .mlx
	nop 0
	brl.sptk.many loops# ;;
	}
	.endp choose#

	.global loops#
	.proc loops#
loops:
	.prologue
	{ .mii
	alloc r33 = ar.pfs, 1, 7, 0, 8
	.save ar.lc, r34
	mov.i r34 = ar.lc
	nop 0
	}
	.body
	{ .mii
	nop 0
	mov.i ar.ec = 3
	mov.i ar.lc = 9 ;;
	}
.Ltop:
	{ .mfb
	(p16) ld8 r35 = [r32], 8
	(p18) fma.d f6 = f7, f8, f9
	br.ctop.sptk .Ltop ;;
	}
	{ .mib
	addl r14 = @ltoff(labels#), r1
	mov.i ar.lc = r34
	nop 0 ;;
	}
	{ .mmi
	ld8 r14 = [r14] ;;
	ld8 r15 = [r14]
	nop 0 ;;
	}
	{ .mib
	nop 0
	mov b7 = r15
	br b7 ;;
	}
.Lfirst:
	{ .mbb
	cmp.eq p6, p7 = r0, r32
	(p6) br.cond.dptk .Lsecond
	br.ret.sptk.many b0 ;;
	}
.Lsecond:
	{ .mib
	addl r8 = @ltoff(@fptr(choose#)), r1
	mov.i ar.pfs = r33
	br.ret.sptk.many b0 ;;
	}
	.endp loops#

	.global handler#
	.proc handler#
handler:
	{ .bbb
	nop 0
	nop 0
	br.ret.sptk.many b0 ;;
	}
	.endp handler#

	.global _start#
	.proc _start#
_start:
	.prologue
	.save rp, r0
	{ .mii
	alloc r32 = ar.pfs, 0, 2, 1, 0
	mov r34 = 2
	nop 0 ;;
	}
	.body
	{ .mib
	nop 0
	nop 0
	br.call.sptk.many b0 = throws# ;;
	}
	{ .mib
	break 0
	nop 0
	nop 0 ;;
	}
	.endp _start#

	.section .rodata, "a"
	.align 8
table:
	data8 @pcrel(.Lcase0), @pcrel(.Lcase1), @pcrel(.Lcase2), @pcrel(.Ldefault)
	.data
	.align 8
labels:
	data8 .Lfirst, .Lsecond
type:
	data8 @fptr(choose#), @fptr(loops#)
