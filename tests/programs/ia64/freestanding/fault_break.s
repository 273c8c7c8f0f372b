// Ends by a fault.
	.text
	.global program#
	.proc program#
program:
	break.m 0 ;;
	.endp program#
