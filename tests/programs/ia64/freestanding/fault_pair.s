// Loads of 16 bytes must be aligned.
	.text
	.global program#
	.proc program#
program:
	and r14 = -16, r12 ;;
	ld16 r15, ar.csd = [r14] ;;
	adds r14 = 8, r14 ;;
	ld16 r15, ar.csd = [r14] ;;
	.endp program#
