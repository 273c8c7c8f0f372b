// A loop branch that is not the last of its bundle also faults under a false predicate: (p6) br.wexit, nop.b, nop.b.
	.text
	.global program#
	.proc program#
program:
	cmp.ne p6, p7 = r0, r0 ;;
	data8 0x0000123ffffc10d7, 0x2000000000100000
	.endp program#
