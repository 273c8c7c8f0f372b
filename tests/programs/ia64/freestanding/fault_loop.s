// A loop branch that is not the last of its bundle, as no assembler makes it: nop.m, br.cloop.sptk.few .+16, nop.b.
	.text
	.global program#
	.proc program#
program:
	mov ar.lc = r0 ;;
	data8 0x0850000100000013, 0x2000000000200000
	.endp program#
