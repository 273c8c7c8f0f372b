// Ends by a fault.
	.text
	.global program#
	.proc program#
program:
	movl r14 = 0x6000000000100000 ;;
	mov b6 = r14 ;;
	br.sptk.many b6 ;;
	.endp program#
