// Every count is known. `// count BUNDLE SLOT COUNT` says how often a slot is executed; bundles are numbered from `counted`.
	.text
	.explicit
	.global program#
	.proc program#
program:
	br.sptk.many counted# ;;
	.endp program#

	.align 32
	.global counted#
	.proc counted#
counted:
	{ .mii
	alloc r32 = ar.pfs, 0, 4, 1, 0		// count 0 0 1
	mov r33 = b0				// count 0 1 1
	mov.i r34 = ar.lc ;;			// count 0 2 1
	}
	{ .mii
	mov r14 = 0				// count 1 0 1
	mov.i ar.lc = 99			// count 1 1 1
	nop.i 0 ;;				// count 1 2 1
	}
.Lloop:
	{ .mii
	nop.m 0					// count 2 0 100
	adds r14 = 1, r14 ;;			// count 2 1 100
	tbit.nz p6, p7 = r14, 0 ;;		// count 2 2 100
	}
	{ .mib
	cmp.eq p8, p9 = 70, r14			// count 3 0 100
	(p6) adds r15 = 1, r14			// count 3 1 100
	(p7) br.cond.dptk .Leven ;;		// count 3 2 100
	}
	{ .mib
	nop.m 0					// count 4 0 50
	nop.i 0					// count 4 1 50
	br.call.sptk.many b0 = .Lleaf ;;	// count 4 2 50
	}
.Leven:
	{ .mbb
	nop.m 0					// count 5 0 100
	(p8) br.cond.spnt .Lrare		// count 5 1 100
	nop.b 0 ;;				// count 5 2 99
	}
.Lnext:
	{ .mib
	nop.m 0					// count 6 0 100
	nop.i 0					// count 6 1 100
	br.cloop.sptk.many .Lloop ;;		// count 6 2 100
	}
	{ .mlx
	nop.m 0					// count 7 0 1
	movl r16 = 0x123456789abcdef ;;		// count 7 2 1
	}
	{ .mii
	mov r8 = 0				// count 8 0 1
	mov b0 = r33				// count 8 1 1
	mov.i ar.lc = r34 ;;			// count 8 2 1
	}
	{ .mib
	nop.m 0					// count 9 0 1
	mov.i ar.pfs = r32			// count 9 1 1
	br.ret.sptk.many b0 ;;			// count 9 2 1
	}
.Lrare:
	{ .mib
	nop.m 0					// count 10 0 1
	nop.i 0					// count 10 1 1
	br.sptk.many .Lnext ;;			// count 10 2 1
	}
.Lleaf:
	{ .mib
	nop.m 0					// count 11 0 50
	adds r17 = 1, r14			// count 11 1 50
	br.ret.sptk.many b0 ;;			// count 11 2 50
	}
	.endp counted#
