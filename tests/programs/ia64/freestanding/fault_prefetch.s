// Prefetches that do not fault, and a prefetch that ends the program.
	.text
	.global program#
	.proc program#
program:
	movl r14 = 0x2345678 ;;
	lfetch [r14] ;;
	lfetch.excl [r14] ;;
	lfetch.fault.excl [r14] ;;
	.endp program#
