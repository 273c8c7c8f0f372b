// Equal targets of a compare of type unc, under a false predicate.
	.text
	.global program#
	.proc program#
program:
	cmp.ne p6, p7 = r0, r0 ;;
(p6)	fcmp.eq p8, p8 = f0, f0 ;;
(p6)	fcmp.eq.unc p8, p8 = f0, f0 ;;
	.endp program#
