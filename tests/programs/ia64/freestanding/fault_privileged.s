// Ends by a fault.
	.text
	.global program#
	.proc program#
program:
	rfi ;;
	.endp program#
