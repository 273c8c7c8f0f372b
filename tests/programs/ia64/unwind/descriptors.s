// Every kind of unwind descriptor that the assembler writes, for code that does nothing.
// Places of registers in registers are below 32, since readelf shows no more bits of them.

	.text
	.global explicit_places#
	.proc explicit_places#
explicit_places:
	.prologue
	nop 0
	.spillreg r4, r14
	.spillpsp r5, 16
	nop 0
	.spillsp f2, 32
	.spillreg b1, r15
	nop 0
	.spillreg rp, b6
	nop 0
	.spillreg f3, f8
	.restorereg r4
	nop 0
	.save ar.pfs, r35
	nop 0
	.spillpsp ar.bsp, 24
	.spillsp ar.lc, 16
	.spillreg ar.unat, r16
	nop 0
	nop 0
	.fframe 32
	adds sp = -32, sp
	nop 0
	.body
	.spillreg r6, r17
	nop 0
	.spillpsp f17, 48
	nop 0
	.restorereg rp
	nop 0
	.restorereg f3
	nop 0
	.restore sp
	adds sp = 32, sp
	nop 0
	nop 0
	.endp explicit_places#

	.global spill_masks#
	.proc spill_masks#
spill_masks:
	.prologue 0xf, 33
	nop 0
	.save.gf 0x5, 0x30003
	stf.spill [r14] = f2
	nop 0
	stf.spill [r14] = f3
	st8.spill [r15] = r4
	nop 0
	stf.spill [r14] = f16
	nop 0
	stf.spill [r14] = f17
	st8.spill [r15] = r6
	.save.b 0x12
	nop 0
	st8 [r16] = r17
	st8 [r16] = r18
	.spill 0x40
	.fframe 96
	adds sp = -96, sp
	nop 0
	.body
	nop 0
	nop 0
	.endp spill_masks#

	.global registers#
	.proc registers#
registers:
	.prologue
	.save @priunat, r50
	nop 0
	.save ar.bsp, r36
	nop 0
	.save ar.bspstore, r37
	nop 0
	.save ar.rnat, r38
	nop 0
	.save ar.fpsr, r39
	nop 0
	.save ar.unat, r41
	nop 0
	.save ar.lc, r42
	nop 0
	.save pr, r43
	nop 0
	.vframe r45
	nop 0
	.save rp, r46
	nop 0
	.body
	nop 0
	.restore sp
	nop 0
	nop 0
	.endp registers#

	.global stack_places#
	.proc stack_places#
stack_places:
	.prologue
	.vframesp 64
	nop 0
	.savesp pr, 16
	nop 0
	.savepsp ar.pfs, 24
	nop 0
	.savesp ar.fpsr, 32
	nop 0
	.savesp @priunat, 40
	nop 0
	.savepsp ar.bspstore, 48
	nop 0
	.savesp ar.rnat, 56
	nop 0
	.savesp rp, 72
	nop 0
	.body
	nop 0
	.label_state 1
	nop 0
	.restore sp
	nop 0
	nop 0
	.body
	.copy_state 1
	nop 0
	nop 0
	.endp stack_places#

	.global nested#
	.proc nested#
nested:
	.prologue
	nop 0
	.save ar.pfs, r33
	nop 0
	.body
	nop 0
	.prologue
	.save rp, r34
	nop 0
	nop 0
	.body
	.label_state 40
	nop 0
	.prologue
	.altrp b7
	nop 0
	.fframe 16
	adds sp = -16, sp
	.body
	nop 0
	.restore sp, 1
	nop 0
	nop 0
	.body
	nop 0
	.body
	.copy_state 40
	nop 0
	nop 0
	.endp nested#

// The assembler times these saves by a mask that libgcc takes for spills to memory: its unwinder
// ends the program here.
	.global not_understood#
	.proc not_understood#
not_understood:
	.prologue
	.save.g 0x3, r40
	nop 0
	nop 0
	.save.b 0x3, r44
	nop 0
	nop 0
	.body
	nop 0
	nop 0
	.endp not_understood#
