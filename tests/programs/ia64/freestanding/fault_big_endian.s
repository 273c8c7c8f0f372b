// A register stack in big-endian memory is not there.
	.text
	.global program#
	.proc program#
program:
	mov ar.rsc = 3 ;;
	mov ar.rsc = 0x13 ;;
	.endp program#
