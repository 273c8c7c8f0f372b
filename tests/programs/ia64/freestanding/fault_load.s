// Ends by a fault.
	.text
	.global program#
	.proc program#
program:
	movl r14 = 0x2345678 ;;
	ld8 r15 = [r14] ;;
	.endp program#
