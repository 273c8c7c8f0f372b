// The start of a freestanding program, and its system calls. Written by hand.
	.text
	.global _start#
	.proc _start#
_start:
	.prologue
	.save rp, r0
	alloc r2 = ar.pfs, 0, 2, 1, 0
	movl gp = @gprel(0f)
0:	mov r9 = ip
	;;
	sub gp = r9, gp
	mov ar.rsc = 3
	.body
	;;
	br.call.sptk.many b0 = program#
	;;
	mov out0 = r8
	mov r15 = 1236			// exit_group
	;;
	break 0x100000
	;;
	break 0
	.endp _start#

	.global write_out#
	.proc write_out#
write_out:
	alloc r2 = ar.pfs, 2, 0, 3, 0
	;;
	mov out0 = 1
	mov out1 = in0
	mov out2 = in1
	mov r15 = 1027			// write
	;;
	break 0x100000
	;;
	br.ret.sptk.many b0
	.endp write_out#
