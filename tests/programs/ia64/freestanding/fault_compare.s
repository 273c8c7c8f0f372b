// Equal targets: nothing happens under a false predicate, except when the compare is of type unc.
	.text
	.global program#
	.proc program#
program:
	cmp.ne p6, p7 = r0, r0 ;;
(p6)	cmp.eq p8, p8 = r0, r0 ;;
(p6)	cmp.eq.unc p8, p8 = r0, r0 ;;
	.endp program#
