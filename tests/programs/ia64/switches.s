	.file	"switches.c"
	.pred.safe_across_calls p1-p5,p16-p63
	.text
	.align 16
	.align 64
	.proc dense#
dense:
	.prologue
	.body
	.mmi
	cmp4.ltu p6, p7 = 63, r32
	addl r14 = @ltoffx(.L4), r1
	nop 0
	.mmb
	addp4 r32 = r32, r0
	shladd r8 = r33, 1, r0
	(p6) br.cond.spnt .L68
	;;
	.mmi
	shladd r32 = r32, 3, r0
	ld8.mov r14 = [r14], .L4
	add r8 = r8, r33
	;;
	.mmi
	add r32 = r32, r14
	;;
	ld8 r14 = [r32]
	nop 0
	;;
	.mmi
	nop 0
	add r32 = r32, r14
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r32
	br b6
	.section	.rodata
	.align 8
	.align 4
.L4:
	data8 @pcrel(.L1)
	data8 @pcrel(.L66)
	data8 @pcrel(.L65)
	data8 @pcrel(.L64)
	data8 @pcrel(.L63)
	data8 @pcrel(.L62)
	data8 @pcrel(.L61)
	data8 @pcrel(.L60)
	data8 @pcrel(.L59)
	data8 @pcrel(.L58)
	data8 @pcrel(.L57)
	data8 @pcrel(.L56)
	data8 @pcrel(.L55)
	data8 @pcrel(.L54)
	data8 @pcrel(.L53)
	data8 @pcrel(.L52)
	data8 @pcrel(.L51)
	data8 @pcrel(.L50)
	data8 @pcrel(.L49)
	data8 @pcrel(.L48)
	data8 @pcrel(.L47)
	data8 @pcrel(.L46)
	data8 @pcrel(.L45)
	data8 @pcrel(.L44)
	data8 @pcrel(.L43)
	data8 @pcrel(.L42)
	data8 @pcrel(.L41)
	data8 @pcrel(.L40)
	data8 @pcrel(.L39)
	data8 @pcrel(.L38)
	data8 @pcrel(.L37)
	data8 @pcrel(.L36)
	data8 @pcrel(.L35)
	data8 @pcrel(.L34)
	data8 @pcrel(.L33)
	data8 @pcrel(.L32)
	data8 @pcrel(.L31)
	data8 @pcrel(.L30)
	data8 @pcrel(.L29)
	data8 @pcrel(.L28)
	data8 @pcrel(.L27)
	data8 @pcrel(.L26)
	data8 @pcrel(.L25)
	data8 @pcrel(.L24)
	data8 @pcrel(.L23)
	data8 @pcrel(.L22)
	data8 @pcrel(.L21)
	data8 @pcrel(.L20)
	data8 @pcrel(.L19)
	data8 @pcrel(.L18)
	data8 @pcrel(.L17)
	data8 @pcrel(.L16)
	data8 @pcrel(.L15)
	data8 @pcrel(.L14)
	data8 @pcrel(.L13)
	data8 @pcrel(.L12)
	data8 @pcrel(.L11)
	data8 @pcrel(.L10)
	data8 @pcrel(.L9)
	data8 @pcrel(.L8)
	data8 @pcrel(.L7)
	data8 @pcrel(.L6)
	data8 @pcrel(.L5)
	data8 @pcrel(.L3)
	.text
.L5:
	.mmi
	adds r8 = 434, r8
	nop 0
	nop 0
.L1:
	.mib
	nop 0
	nop 0
	br.ret.sptk.many b0
	;;
.L6:
	.mib
	nop 0
	adds r8 = 427, r8
	br.ret.sptk.many b0
	;;
.L7:
	.mib
	nop 0
	adds r8 = 420, r8
	br.ret.sptk.many b0
	;;
.L8:
	.mib
	nop 0
	adds r8 = 413, r8
	br.ret.sptk.many b0
	;;
.L9:
	.mib
	nop 0
	adds r8 = 406, r8
	br.ret.sptk.many b0
	;;
.L10:
	.mib
	nop 0
	adds r8 = 399, r8
	br.ret.sptk.many b0
	;;
.L11:
	.mib
	nop 0
	adds r8 = 392, r8
	br.ret.sptk.many b0
	;;
.L12:
	.mib
	nop 0
	adds r8 = 385, r8
	br.ret.sptk.many b0
	;;
.L13:
	.mib
	nop 0
	adds r8 = 378, r8
	br.ret.sptk.many b0
	;;
.L14:
	.mib
	nop 0
	adds r8 = 371, r8
	br.ret.sptk.many b0
	;;
.L15:
	.mib
	nop 0
	adds r8 = 364, r8
	br.ret.sptk.many b0
	;;
.L16:
	.mib
	nop 0
	adds r8 = 357, r8
	br.ret.sptk.many b0
	;;
.L17:
	.mib
	nop 0
	adds r8 = 350, r8
	br.ret.sptk.many b0
	;;
.L18:
	.mib
	nop 0
	adds r8 = 343, r8
	br.ret.sptk.many b0
	;;
.L19:
	.mib
	nop 0
	adds r8 = 336, r8
	br.ret.sptk.many b0
	;;
.L20:
	.mib
	nop 0
	adds r8 = 329, r8
	br.ret.sptk.many b0
	;;
.L21:
	.mib
	nop 0
	adds r8 = 322, r8
	br.ret.sptk.many b0
	;;
.L22:
	.mib
	nop 0
	adds r8 = 315, r8
	br.ret.sptk.many b0
	;;
.L23:
	.mib
	nop 0
	adds r8 = 308, r8
	br.ret.sptk.many b0
	;;
.L24:
	.mib
	nop 0
	adds r8 = 301, r8
	br.ret.sptk.many b0
	;;
.L25:
	.mib
	nop 0
	adds r8 = 294, r8
	br.ret.sptk.many b0
	;;
.L26:
	.mib
	nop 0
	adds r8 = 287, r8
	br.ret.sptk.many b0
	;;
.L27:
	.mib
	nop 0
	adds r8 = 280, r8
	br.ret.sptk.many b0
	;;
.L28:
	.mib
	nop 0
	adds r8 = 273, r8
	br.ret.sptk.many b0
	;;
.L29:
	.mib
	nop 0
	adds r8 = 266, r8
	br.ret.sptk.many b0
	;;
.L30:
	.mib
	nop 0
	adds r8 = 259, r8
	br.ret.sptk.many b0
	;;
.L31:
	.mib
	nop 0
	adds r8 = 252, r8
	br.ret.sptk.many b0
	;;
.L32:
	.mib
	nop 0
	adds r8 = 245, r8
	br.ret.sptk.many b0
	;;
.L33:
	.mib
	nop 0
	adds r8 = 238, r8
	br.ret.sptk.many b0
	;;
.L34:
	.mib
	nop 0
	adds r8 = 231, r8
	br.ret.sptk.many b0
	;;
.L35:
	.mib
	nop 0
	adds r8 = 224, r8
	br.ret.sptk.many b0
	;;
.L36:
	.mib
	nop 0
	adds r8 = 217, r8
	br.ret.sptk.many b0
	;;
.L37:
	.mib
	nop 0
	adds r8 = 210, r8
	br.ret.sptk.many b0
	;;
.L38:
	.mib
	nop 0
	adds r8 = 203, r8
	br.ret.sptk.many b0
	;;
.L39:
	.mib
	nop 0
	adds r8 = 196, r8
	br.ret.sptk.many b0
	;;
.L40:
	.mib
	nop 0
	adds r8 = 189, r8
	br.ret.sptk.many b0
	;;
.L41:
	.mib
	nop 0
	adds r8 = 182, r8
	br.ret.sptk.many b0
	;;
.L42:
	.mib
	nop 0
	adds r8 = 175, r8
	br.ret.sptk.many b0
	;;
.L43:
	.mib
	nop 0
	adds r8 = 168, r8
	br.ret.sptk.many b0
	;;
.L44:
	.mib
	nop 0
	adds r8 = 161, r8
	br.ret.sptk.many b0
	;;
.L45:
	.mib
	nop 0
	adds r8 = 154, r8
	br.ret.sptk.many b0
	;;
.L46:
	.mib
	nop 0
	adds r8 = 147, r8
	br.ret.sptk.many b0
	;;
.L47:
	.mib
	nop 0
	adds r8 = 140, r8
	br.ret.sptk.many b0
	;;
.L48:
	.mib
	nop 0
	adds r8 = 133, r8
	br.ret.sptk.many b0
	;;
.L49:
	.mib
	nop 0
	adds r8 = 126, r8
	br.ret.sptk.many b0
	;;
.L50:
	.mib
	nop 0
	adds r8 = 119, r8
	br.ret.sptk.many b0
	;;
.L51:
	.mib
	nop 0
	adds r8 = 112, r8
	br.ret.sptk.many b0
	;;
.L52:
	.mib
	nop 0
	adds r8 = 105, r8
	br.ret.sptk.many b0
	;;
.L53:
	.mib
	nop 0
	adds r8 = 98, r8
	br.ret.sptk.many b0
	;;
.L54:
	.mib
	nop 0
	adds r8 = 91, r8
	br.ret.sptk.many b0
	;;
.L55:
	.mib
	nop 0
	adds r8 = 84, r8
	br.ret.sptk.many b0
	;;
.L56:
	.mib
	nop 0
	adds r8 = 77, r8
	br.ret.sptk.many b0
	;;
.L57:
	.mib
	nop 0
	adds r8 = 70, r8
	br.ret.sptk.many b0
	;;
.L58:
	.mib
	nop 0
	adds r8 = 63, r8
	br.ret.sptk.many b0
	;;
.L59:
	.mib
	nop 0
	adds r8 = 56, r8
	br.ret.sptk.many b0
	;;
.L60:
	.mib
	nop 0
	adds r8 = 49, r8
	br.ret.sptk.many b0
	;;
.L61:
	.mib
	nop 0
	adds r8 = 42, r8
	br.ret.sptk.many b0
	;;
.L62:
	.mib
	nop 0
	adds r8 = 35, r8
	br.ret.sptk.many b0
	;;
.L63:
	.mib
	nop 0
	adds r8 = 28, r8
	br.ret.sptk.many b0
	;;
.L64:
	.mib
	nop 0
	adds r8 = 21, r8
	br.ret.sptk.many b0
	;;
.L65:
	.mib
	nop 0
	adds r8 = 14, r8
	br.ret.sptk.many b0
	;;
.L66:
	.mib
	nop 0
	adds r8 = 7, r8
	br.ret.sptk.many b0
	;;
.L3:
	.mib
	nop 0
	adds r8 = 441, r8
	br.ret.sptk.many b0
	;;
.L68:
	.mib
	nop 0
	addl r8 = 1, r0
	br.ret.sptk.many b0
	.endp dense#
	.align 16
	.align 64
	.proc clustered#
clustered:
	.prologue
	.body
	.mmi
	nop 0
	addl r14 = 1015, r0
	nop 0
	;;
	.mib
	cmp4.ltu p6, p7 = r14, r32
	addl r14 = 999, r0
	(p6) br.cond.dpnt .L72
	;;
	.mib
	cmp4.ltu p6, p7 = r14, r32
	adds r14 = -10, r32
	(p6) br.cond.dpnt .L73
	;;
	.mmi
	cmp4.ltu p6, p7 = 15, r14
	nop 0
	adds r32 = -11, r32
	.mmb
	addl r14 = @ltoffx(.L95), r1
	nop 0
	(p6) br.cond.spnt .L74
	;;
	.mib
	cmp4.ltu p6, p7 = 14, r32
	addp4 r32 = r32, r0
	(p6) br.cond.dpnt .L93
	;;
	.mmi
	shladd r32 = r32, 3, r0
	ld8.mov r14 = [r14], .L95
	nop 0
	;;
	.mmi
	add r32 = r32, r14
	;;
	ld8 r14 = [r32]
	nop 0
	;;
	.mmi
	nop 0
	add r32 = r32, r14
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r32
	br b6
	.section	.rodata
	.align 8
	.align 4
.L95:
	data8 @pcrel(.L109)
	data8 @pcrel(.L108)
	data8 @pcrel(.L107)
	data8 @pcrel(.L106)
	data8 @pcrel(.L105)
	data8 @pcrel(.L104)
	data8 @pcrel(.L103)
	data8 @pcrel(.L102)
	data8 @pcrel(.L101)
	data8 @pcrel(.L100)
	data8 @pcrel(.L99)
	data8 @pcrel(.L98)
	data8 @pcrel(.L97)
	data8 @pcrel(.L96)
	data8 @pcrel(.L94)
	.text
.L72:
	.mmi
	nop 0
	addl r14 = 500000, r0
	nop 0
	;;
	.mib
	cmp4.eq p6, p7 = r14, r32
	nop 0
	(p7) br.cond.dpnt .L74
	;;
	.mib
	nop 0
	(p6) addl r8 = 99, r0
	br.ret.sptk.many b0
.L73:
	.mmi
	adds r32 = -1001, r32
	nop 0
	addl r14 = @ltoffx(.L78), r1
	;;
	.mib
	cmp4.ltu p6, p7 = 14, r32
	addp4 r32 = r32, r0
	(p6) br.cond.dpnt .L76
	;;
	.mmi
	shladd r32 = r32, 3, r0
	ld8.mov r14 = [r14], .L78
	nop 0
	;;
	.mmi
	add r32 = r32, r14
	;;
	ld8 r14 = [r32]
	nop 0
	;;
	.mii
	add r32 = r32, r14
	shladd r14 = r33, 1, r0
	;;
	mov b6 = r32
	.mmb
	nop 0
	add r14 = r14, r33
	br b6
	.section	.rodata
	.align 8
	.align 4
.L78:
	data8 @pcrel(.L92)
	data8 @pcrel(.L91)
	data8 @pcrel(.L90)
	data8 @pcrel(.L89)
	data8 @pcrel(.L88)
	data8 @pcrel(.L87)
	data8 @pcrel(.L86)
	data8 @pcrel(.L85)
	data8 @pcrel(.L84)
	data8 @pcrel(.L83)
	data8 @pcrel(.L82)
	data8 @pcrel(.L81)
	data8 @pcrel(.L80)
	data8 @pcrel(.L79)
	data8 @pcrel(.L77)
	.text
.L74:
	.mib
	nop 0
	adds r8 = 5, r33
	br.ret.sptk.many b0
	;;
.L80:
	.mib
	nop 0
	adds r8 = 7091, r14
	br.ret.sptk.many b0
	;;
.L81:
	.mib
	nop 0
	adds r8 = 7084, r14
	br.ret.sptk.many b0
	;;
.L82:
	.mib
	nop 0
	adds r8 = 7077, r14
	br.ret.sptk.many b0
	;;
.L83:
	.mib
	nop 0
	adds r8 = 7070, r14
	br.ret.sptk.many b0
	;;
.L84:
	.mib
	nop 0
	adds r8 = 7063, r14
	br.ret.sptk.many b0
	;;
.L85:
	.mib
	nop 0
	adds r8 = 7056, r14
	br.ret.sptk.many b0
	;;
.L86:
	.mib
	nop 0
	adds r8 = 7049, r14
	br.ret.sptk.many b0
	;;
.L87:
	.mib
	nop 0
	adds r8 = 7042, r14
	br.ret.sptk.many b0
	;;
.L88:
	.mib
	nop 0
	adds r8 = 7035, r14
	br.ret.sptk.many b0
	;;
.L89:
	.mib
	nop 0
	adds r8 = 7028, r14
	br.ret.sptk.many b0
	;;
.L90:
	.mib
	nop 0
	adds r8 = 7021, r14
	br.ret.sptk.many b0
	;;
.L91:
	.mib
	nop 0
	adds r8 = 7014, r14
	br.ret.sptk.many b0
	;;
.L92:
	.mib
	nop 0
	adds r8 = 7007, r14
	br.ret.sptk.many b0
	;;
.L79:
	.mib
	nop 0
	adds r8 = 7098, r14
	br.ret.sptk.many b0
	;;
.L77:
	.mib
	nop 0
	adds r8 = 7105, r14
	br.ret.sptk.many b0
.L97:
	.mii
	nop 0
	extr.u r14 = r33, 11, 21
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 23, r14
	br.ret.sptk.many b0
.L98:
	.mii
	nop 0
	extr.u r14 = r33, 10, 22
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 22, r14
	br.ret.sptk.many b0
.L99:
	.mii
	nop 0
	extr.u r14 = r33, 9, 23
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 21, r14
	br.ret.sptk.many b0
.L100:
	.mii
	nop 0
	extr.u r14 = r33, 8, 24
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 20, r14
	br.ret.sptk.many b0
.L101:
	.mii
	nop 0
	extr.u r14 = r33, 7, 25
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 19, r14
	br.ret.sptk.many b0
.L102:
	.mii
	nop 0
	extr.u r14 = r33, 6, 26
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 18, r14
	br.ret.sptk.many b0
.L103:
	.mii
	nop 0
	extr.u r14 = r33, 5, 27
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 17, r14
	br.ret.sptk.many b0
.L104:
	.mii
	nop 0
	extr.u r14 = r33, 4, 28
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 16, r14
	br.ret.sptk.many b0
.L105:
	.mii
	nop 0
	extr.u r14 = r33, 3, 29
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 15, r14
	br.ret.sptk.many b0
.L106:
	.mii
	nop 0
	extr.u r14 = r33, 2, 30
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 14, r14
	br.ret.sptk.many b0
.L107:
	.mii
	nop 0
	extr.u r14 = r33, 1, 31
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 13, r14
	br.ret.sptk.many b0
.L108:
	.mii
	nop 0
	extr.u r14 = r33, 13, 19
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 12, r14
	br.ret.sptk.many b0
.L109:
	.mii
	nop 0
	extr.u r14 = r33, 12, 20
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 11, r14
	br.ret.sptk.many b0
.L96:
	.mii
	nop 0
	extr.u r14 = r33, 12, 20
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 24, r14
	br.ret.sptk.many b0
.L94:
	.mii
	nop 0
	extr.u r14 = r33, 13, 19
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 25, r14
	br.ret.sptk.many b0
.L76:
	.mmi
	shladd r14 = r33, 1, r0
	;;
	add r14 = r14, r33
	nop 0
	;;
	.mib
	nop 0
	adds r8 = 7000, r14
	br.ret.sptk.many b0
.L93:
	.mii
	nop 0
	extr.u r14 = r33, 11, 21
	;;
	xor r14 = r33, r14
	;;
	.mib
	nop 0
	adds r8 = 10, r14
	br.ret.sptk.many b0
	.endp clustered#
	.align 16
	.align 64
	.proc with_goto#
with_goto:
	.prologue
	.body
	.mmi
	adds r32 = 8, r32
	nop 0
	addl r14 = @ltoffx(.L118), r1
	;;
	.mib
	cmp4.ltu p6, p7 = 23, r32
	addp4 r32 = r32, r0
	(p6) br.cond.spnt .L116
	;;
	.mmi
	shladd r32 = r32, 3, r0
	ld8.mov r14 = [r14], .L118
	nop 0
	;;
	.mmi
	add r32 = r32, r14
	;;
	ld8 r14 = [r32]
	nop 0
	;;
	.mmi
	nop 0
	add r32 = r32, r14
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r32
	br b6
	.section	.rodata
	.align 8
	.align 4
.L118:
	data8 @pcrel(.L141)
	data8 @pcrel(.L140)
	data8 @pcrel(.L139)
	data8 @pcrel(.L138)
	data8 @pcrel(.L137)
	data8 @pcrel(.L136)
	data8 @pcrel(.L135)
	data8 @pcrel(.L134)
	data8 @pcrel(.L133)
	data8 @pcrel(.L132)
	data8 @pcrel(.L131)
	data8 @pcrel(.L130)
	data8 @pcrel(.L129)
	data8 @pcrel(.L128)
	data8 @pcrel(.L127)
	data8 @pcrel(.L126)
	data8 @pcrel(.L125)
	data8 @pcrel(.L124)
	data8 @pcrel(.L123)
	data8 @pcrel(.L122)
	data8 @pcrel(.L121)
	data8 @pcrel(.L120)
	data8 @pcrel(.L119)
	data8 @pcrel(.L117)
	.text
.L119:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mib
	adds r8 = 14, r14
	tbit.nz p6, p7 = r14, 0
	(p6) br.cond.dpnt .L142
.L115:
	.mib
	nop 0
	nop 0
	br.ret.sptk.many b0
.L120:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mib
	adds r8 = 13, r14
	tbit.z p6, p7 = r14, 0
	(p7) br.cond.dptk .L115
	;;
.L142:
	.mib
	nop 0
	andcm r8 = -1, r8
	br.ret.sptk.many b0
.L123:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 10, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L124:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 9, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L125:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 8, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L126:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 7, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L121:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 12, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L122:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 11, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L127:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 6, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L128:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 5, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L129:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 4, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L130:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 3, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L131:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 2, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L132:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 1, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
	;;
.L133:
	.mmi
	shladd r8 = r33, 3, r0
	nop 0
	tbit.nz p6, p7 = r33, 0
	;;
	.mbb
	sub r8 = r8, r33
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
	;;
.L134:
	.mmi
	shladd r8 = r33, 3, r0
	nop 0
	tbit.z p6, p7 = r33, 0
	;;
	.mbb
	sub r8 = r8, r33, 1
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L135:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = -2, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L136:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = -3, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L137:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = -4, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L138:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = -5, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L139:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = -6, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L140:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = -7, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L141:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = -8, r14
	tbit.nz p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
.L117:
	.mmi
	shladd r14 = r33, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	nop 0
	adds r8 = 15, r14
	tbit.z p6, p7 = r14, 0
	.bbb
	nop 0
	(p6) br.cond.dpnt .L142
	br.ret.sptk.many b0
	;;
.L116:
	.mib
	nop 0
	adds r8 = 11, r33
	br.ret.sptk.many b0
	.endp with_goto#
	.align 16
	.align 64
	.proc without_check#
without_check:
	.prologue
	.body
	.mmi
	addl r14 = @ltoffx(.L171), r1
	nop 0
	dep.z r32 = r32, 3, 3
	;;
	.mmi
	ld8.mov r14 = [r14], .L171
	;;
	add r32 = r32, r14
	nop 0
	;;
	.mmi
	ld8 r14 = [r32]
	;;
	add r32 = r32, r14
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r32
	br b6
	.section	.rodata
	.align 8
	.align 4
.L171:
	data8 @pcrel(.L169)
	data8 @pcrel(.L177)
	data8 @pcrel(.L176)
	data8 @pcrel(.L175)
	data8 @pcrel(.L174)
	data8 @pcrel(.L173)
	data8 @pcrel(.L172)
	data8 @pcrel(.L170)
	.text
.L170:
	.mii
	nop 0
	extr.u r8 = r33, 8, 24
	;;
	xor r8 = r33, r8
	;;
	.mib
	nop 0
	adds r8 = 7, r8
	br.ret.sptk.many b0
	;;
.L177:
	.mii
	nop 0
	extr.u r8 = r33, 2, 30
	;;
	xor r8 = r33, r8
	;;
	.mib
	nop 0
	adds r8 = 1, r8
	br.ret.sptk.many b0
	;;
.L176:
	.mii
	nop 0
	extr.u r8 = r33, 3, 29
	;;
	xor r8 = r33, r8
	;;
	.mib
	nop 0
	adds r8 = 2, r8
	br.ret.sptk.many b0
	;;
.L175:
	.mii
	nop 0
	extr.u r8 = r33, 4, 28
	;;
	xor r8 = r33, r8
	;;
	.mib
	nop 0
	adds r8 = 3, r8
	br.ret.sptk.many b0
	;;
.L174:
	.mii
	nop 0
	extr.u r8 = r33, 5, 27
	;;
	xor r8 = r33, r8
	;;
	.mib
	nop 0
	adds r8 = 4, r8
	br.ret.sptk.many b0
	;;
.L173:
	.mii
	nop 0
	extr.u r8 = r33, 6, 26
	;;
	xor r8 = r33, r8
	;;
	.mib
	nop 0
	adds r8 = 5, r8
	br.ret.sptk.many b0
	;;
.L172:
	.mii
	nop 0
	extr.u r8 = r33, 7, 25
	;;
	xor r8 = r33, r8
	;;
	.mib
	nop 0
	adds r8 = 6, r8
	br.ret.sptk.many b0
	;;
.L169:
	.mii
	nop 0
	extr.u r8 = r33, 1, 31
	nop 0
	;;
	.mib
	nop 0
	xor r8 = r33, r8
	br.ret.sptk.many b0
	.endp without_check#
	.align 16
	.align 64
	.proc dispatch#
dispatch:
	.prologue 12, 34
	.mmi
	.save ar.pfs, r35
	alloc r35 = ar.pfs, 2, 3, 2, 0
	addp4 r14 = r32, r0
	.save rp, r34
	mov r34 = b0
	.mmi
	nop 0
	mov r36 = r1
	.body
	nop 0
	;;
	.mlx
	nop 0
	movl r15 = -2049638230412172401
	.mmi
	setf.sig f6 = r14
	;;
	setf.sig f7 = r15
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f7
	;;
	.mmi
	nop 0
	getf.sig r15 = f6
	nop 0
	;;
	.mii
	nop 0
	shr.u r16 = r15, 3
	and r15 = -8, r15
	;;
	.mmi
	add r15 = r15, r16
	;;
	sub r14 = r14, r15
	addl r15 = @ltoffx(.L184), r1
	;;
	.mib
	cmp4.ltu p6, p7 = 7, r14
	addp4 r14 = r14, r0
	(p6) br.cond.spnt .L182
	;;
	.mmi
	shladd r14 = r14, 3, r0
	ld8.mov r15 = [r15], .L184
	nop 0
	;;
	.mmi
	add r14 = r14, r15
	;;
	ld8 r15 = [r14]
	nop 0
	;;
	.mmi
	nop 0
	add r14 = r14, r15
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r14
	br b6
	.section	.rodata
	.align 8
	.align 4
.L184:
	data8 @pcrel(.L191)
	data8 @pcrel(.L190)
	data8 @pcrel(.L189)
	data8 @pcrel(.L188)
	data8 @pcrel(.L187)
	data8 @pcrel(.L186)
	data8 @pcrel(.L185)
	data8 @pcrel(.L183)
	.text
.L185:
	.mmi
	addl r14 = 21845, r0
	nop 0
	mov b0 = r34
	;;
	.mii
	xor r33 = r14, r33
	mov ar.pfs = r35
	;;
	shladd r14 = r33, 2, r0
	;;
	.mmi
	add r14 = r14, r33
	;;
	nop 0
	dep.z r14 = r14, 5, 27
	;;
	.mmi
	sub r14 = r14, r33
	;;
	nop 0
	dep.z r15 = r14, 5, 27
	;;
	.mmi
	add r14 = r14, r15
	;;
	shladd r14 = r14, 2, r0
	nop 0
	;;
	.mmi
	sub r14 = r14, r33
	;;
	nop 0
	dep.z r15 = r14, 5, 27
	;;
	.mmi
	sub r14 = r15, r14
	;;
	nop 0
	dep.z r8 = r14, 8, 24
	;;
	.mmi
	sub r8 = r8, r14
	;;
	shladd r8 = r8, 4, r0
	nop 0
	;;
	.mib
	nop 0
	add r8 = r8, r33
	br.ret.sptk.many b0
	;;
.L183:
	.mib
	addl r38 = 4, r0
	addl r37 = 3, r0
	br.call.sptk.many b0 = dense#
	;;
	.mmi
	add r33 = r8, r33
	mov r1 = r36
	mov b0 = r34
	;;
	.mii
	shladd r14 = r33, 2, r0
	mov ar.pfs = r35
	;;
	add r14 = r14, r33
	;;
	.mii
	nop 0
	dep.z r14 = r14, 5, 27
	;;
	sub r14 = r14, r33
	;;
	.mii
	nop 0
	dep.z r15 = r14, 5, 27
	;;
	add r14 = r14, r15
	;;
	.mmi
	shladd r14 = r14, 2, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mii
	nop 0
	dep.z r15 = r14, 5, 27
	;;
	sub r14 = r15, r14
	;;
	.mii
	nop 0
	dep.z r8 = r14, 8, 24
	;;
	sub r8 = r8, r14
	;;
	.mmi
	nop 0
	shladd r8 = r8, 4, r0
	nop 0
	;;
	.mib
	nop 0
	add r8 = r8, r33
	br.ret.sptk.many b0
.L189:
	.mmi
	nop 0
	addp4 r32 = r33, r0
	mov b0 = r34
	.mlx
	nop 0
	movl r14 = 5165088340638674453
	;;
	.mmi
	setf.sig f7 = r14
	setf.sig f6 = r32
	mov ar.pfs = r35
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f7
	;;
	.mmi
	getf.sig r14 = f6
	;;
	sub r15 = r32, r14
	nop 0
	;;
	.mii
	nop 0
	shr.u r15 = r15, 1
	;;
	add r14 = r14, r15
	;;
	.mii
	nop 0
	shr.u r14 = r14, 4
	;;
	shladd r15 = r14, 2, r0
	;;
	.mmi
	add r14 = r15, r14
	;;
	shladd r15 = r14, 2, r0
	nop 0
	;;
	.mmi
	add r14 = r14, r15
	;;
	sub r32 = r32, r14
	nop 0
	;;
	.mmi
	nop 0
	adds r32 = 995, r32
	nop 0
	;;
	.mib
	.label_state 1
	.restore sp
	.prologue
	alloc r2 = ar.pfs, 0, 0, 2, 0
	nop 0
	br.sptk.many clustered#
.L188:
	.body
	.copy_state 1
	.mmi
	nop 0
	addp4 r32 = r33, r0
	mov b0 = r34
	.mlx
	nop 0
	movl r14 = -3689348814741910323
	;;
	.mmi
	setf.sig f7 = r14
	setf.sig f6 = r32
	mov ar.pfs = r35
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f7
	;;
	.mmi
	getf.sig r14 = f6
	;;
	nop 0
	shr.u r14 = r14, 5
	;;
	.mmi
	shladd r15 = r14, 2, r0
	;;
	add r14 = r15, r14
	nop 0
	;;
	.mmi
	shladd r14 = r14, 3, r0
	;;
	sub r32 = r32, r14
	nop 0
	;;
	.mmi
	nop 0
	adds r32 = -12, r32
	nop 0
	;;
	.mib
	.label_state 2
	.restore sp
	.prologue
	alloc r2 = ar.pfs, 0, 0, 2, 0
	nop 0
	br.sptk.many with_goto#
.L187:
	.body
	.copy_state 2
	.mii
	mov r32 = r33
	mov b0 = r34
	;;
	mov ar.pfs = r35
	;;
	.mib
	.label_state 3
	.restore sp
	.prologue
	alloc r2 = ar.pfs, 0, 0, 2, 0
	nop 0
	br.sptk.many without_check#
	;;
.L186:
	.body
	.copy_state 3
	.mib
	mov r38 = r33
	addl r37 = 500000, r0
	br.call.sptk.many b0 = clustered#
	;;
	.mmi
	addp4 r14 = r33, r0
	mov r1 = r36
	mov b0 = r34
	.mlx
	mov r33 = r8
	movl r32 = -2049638230412172401
	;;
	.mmi
	setf.sig f7 = r32
	setf.sig f6 = r14
	mov ar.pfs = r35
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f7
	;;
	.mmi
	nop 0
	getf.sig r32 = f6
	nop 0
	;;
	.mii
	nop 0
	shr.u r15 = r32, 3
	and r32 = -8, r32
	;;
	.mmi
	add r32 = r32, r15
	;;
	sub r32 = r14, r32
	nop 0
	;;
	.mib
	.label_state 4
	.restore sp
	.prologue
	alloc r2 = ar.pfs, 0, 0, 2, 0
	nop 0
	br.sptk.many dense#
.L191:
	.body
	.copy_state 4
	.mmi
	nop 0
	addp4 r32 = r33, r0
	mov b0 = r34
	.mlx
	nop 0
	movl r14 = -1581149492032247281
	;;
	.mmi
	setf.sig f7 = r14
	setf.sig f6 = r32
	mov ar.pfs = r35
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f7
	;;
	.mmi
	getf.sig r14 = f6
	;;
	nop 0
	shr.u r14 = r14, 6
	;;
	.mmi
	shladd r15 = r14, 2, r0
	;;
	add r15 = r15, r14
	nop 0
	;;
	.mmi
	shladd r14 = r15, 3, r0
	;;
	sub r14 = r14, r15
	nop 0
	;;
	.mmi
	shladd r14 = r14, 1, r0
	;;
	sub r32 = r32, r14
	nop 0
	;;
	.mib
	.label_state 5
	.restore sp
	.prologue
	alloc r2 = ar.pfs, 0, 0, 2, 0
	nop 0
	br.sptk.many dense#
.L190:
	.body
	.copy_state 5
	.mmi
	nop 0
	addp4 r32 = r33, r0
	mov b0 = r34
	.mlx
	nop 0
	movl r14 = -8608480567731124087
	;;
	.mmi
	setf.sig f7 = r14
	setf.sig f6 = r32
	mov ar.pfs = r35
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f7
	;;
	.mii
	getf.sig r14 = f6
	nop 0
	;;
	shr.u r15 = r14, 4
	.mmi
	and r14 = -16, r14
	;;
	sub r14 = r14, r15
	nop 0
	;;
	.mmi
	shladd r14 = r14, 1, r0
	;;
	sub r32 = r32, r14
	nop 0
	;;
	.mib
	.label_state 6
	.restore sp
	.prologue
	alloc r2 = ar.pfs, 0, 0, 2, 0
	nop 0
	br.sptk.many clustered#
.L182:
	.body
	.copy_state 6
	.mii
	nop 0
	mov b0 = r34
	mix4.r r33 = r33, r33
	;;
	.mii
	nop 0
	mov ar.pfs = r35
	;;
	shr.u r33 = r33, 31
	;;
	.mmi
	shladd r14 = r33, 2, r0
	;;
	add r14 = r14, r33
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r14, 5, 27
	;;
	sub r14 = r14, r33
	;;
	.mii
	nop 0
	dep.z r15 = r14, 5, 27
	;;
	add r14 = r14, r15
	;;
	.mmi
	shladd r14 = r14, 2, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mii
	nop 0
	dep.z r15 = r14, 5, 27
	;;
	sub r14 = r15, r14
	;;
	.mii
	nop 0
	dep.z r8 = r14, 8, 24
	;;
	sub r8 = r8, r14
	;;
	.mmi
	nop 0
	shladd r8 = r8, 4, r0
	nop 0
	;;
	.mib
	nop 0
	add r8 = r8, r33
	br.ret.sptk.many b0
	.endp dispatch#
	.align 16
	.align 64
	.proc duff_copy.constprop.0#
duff_copy.constprop.0:
	.prologue
	.body
	.mii
	addl r15 = @ltoffx(.L198), r1
	dep.z r14 = r33, 3, 3
	adds r33 = 7, r33
	;;
	.mii
	ld8.mov r15 = [r15], .L198
	extr r33 = r33, 3, 29
	;;
	add r14 = r14, r15
	;;
	.mmi
	ld8 r15 = [r14]
	;;
	add r14 = r14, r15
	addl r15 = 49, r0
	;;
	.mib
	nop 0
	mov b6 = r14
	nop 0
	.mlx
	nop 0
	movl r14 = @gprel(text.0#)
	;;
	.mib
	nop 0
	add r14 = r1, r14
	br b6
	;;
	.section	.rodata
	.align 8
	.align 4
.L198:
	data8 @pcrel(.L196)
	data8 @pcrel(.L204)
	data8 @pcrel(.L203)
	data8 @pcrel(.L202)
	data8 @pcrel(.L201)
	data8 @pcrel(.L200)
	data8 @pcrel(.L199)
	data8 @pcrel(.L197)
	.text
.L196:
	.mmi
	adds r14 = 1, r14
	st1 [r32] = r15, 1
	nop 0
	;;
	.mii
	ld1 r15 = [r14]
	nop 0
	;;
	sxt1 r15 = r15
	;;
	.align 32
.L197:
	.mmi
	adds r14 = 1, r14
	st1 [r32] = r15, 1
	nop 0
	;;
	.mii
	ld1 r15 = [r14]
	nop 0
	;;
	sxt1 r15 = r15
	;;
.L199:
	.mmi
	adds r14 = 1, r14
	st1 [r32] = r15, 1
	nop 0
	;;
	.mii
	ld1 r15 = [r14]
	nop 0
	;;
	sxt1 r15 = r15
	;;
.L200:
	.mmi
	adds r14 = 1, r14
	st1 [r32] = r15, 1
	nop 0
	;;
	.mii
	ld1 r15 = [r14]
	nop 0
	;;
	sxt1 r15 = r15
	;;
.L201:
	.mmi
	adds r14 = 1, r14
	st1 [r32] = r15, 1
	nop 0
	;;
	.mii
	ld1 r15 = [r14]
	nop 0
	;;
	sxt1 r15 = r15
	;;
.L202:
	.mmi
	adds r14 = 1, r14
	st1 [r32] = r15, 1
	nop 0
	;;
	.mii
	ld1 r15 = [r14]
	nop 0
	;;
	sxt1 r15 = r15
	;;
.L203:
	.mmi
	adds r14 = 1, r14
	st1 [r32] = r15, 1
	nop 0
	;;
	.mii
	ld1 r15 = [r14]
	nop 0
	;;
	sxt1 r15 = r15
	;;
.L204:
	.mmi
	st1 [r32] = r15
	nop 0
	adds r33 = -1, r33
	.mmi
	adds r14 = 1, r14
	nop 0
	adds r32 = 1, r32
	;;
	.mib
	cmp4.eq p6, p7 = 0, r33
	nop 0
	(p6) br.cond.dpnt .L195
	;;
	.mii
	ld1 r15 = [r14]
	adds r14 = 1, r14
	;;
	sxt1 r15 = r15
	;;
	.mmi
	st1 [r32] = r15, 1
	;;
	ld1 r15 = [r14]
	nop 0
	;;
	.mib
	nop 0
	sxt1 r15 = r15
	br .L197
.L195:
	.mib
	nop 0
	nop 0
	br.ret.sptk.many b0
	.endp duff_copy.constprop.0#
	.section	.rodata.str1.8,"aMS",@progbits,1
	.align 8
.LC1:
	stringz	"%s "
	.align 8
.LC2:
	stringz	"integer"
	.align 8
.LC3:
	stringz	"fraction"
	.align 8
.LC4:
	stringz	"exp-digits"
	.align 8
.LC5:
	stringz	"bad"
	.align 8
.LC6:
	stringz	"point"
	.align 8
.LC7:
	stringz	"exp-sign"
	.align 8
.LC8:
	stringz	"exponent"
	.align 8
.LC9:
	stringz	"duff_copy is wrong at %d\n"
	.align 8
.LC10:
	stringz	"digest %016lx\n"
	.align 8
.LC11:
	stringz	"word"
	.sdata
	.align 8
.LC0:
	data8	text.0#+1
	.section	.text.startup,"ax",@progbits
	.align 16
	.align 64
	.global main#
	.type	main#, @function
	.proc main#
main:
	.prologue 12, 39
	.mmb
	.save ar.pfs, r40
	alloc r40 = ar.pfs, 0, 10, 3, 0
	adds r16 = -8, r12
	nop 0
	.mii
	.fframe 96
	adds r12 = -96, r12
	mov r17 = ar.lc
	addl r36 = @gprel(digest#), gp
	;;
	.mlx
	addl r14 = 199999, r0
	movl r15 = 2361183241434822607
	.mmi
	mov r41 = r1
	mov r34 = r0
	mov r32 = r0
	;;
	.mii
	nop 0
	.save rp, r39
	mov r39 = b0
	addl r8 = 12345, r0
	.mmi
	ld8.a r33 = [r36]
	;;
	nop 0
	mov ar.lc = r14
	;;
	.mmi
	nop 0
	.savesp ar.lc, 88
	st8 [r16] = r17, 8
	nop 0
	;;
	.mmi
	.save.f 0x1
	stf.spill [r16] = f2
	.body
	setf.sig f2 = r15
	nop 0
	;;
	.mmi
	ld8.c.clr r33 = [r36]
	nop 0
	nop 0
	.align 32
.L218:
	.mii
	nop 0
	extr.u r42 = r8, 7, 25
	add r43 = r32, r8
	.mmb
	nop 0
	nop 0
	br.call.sptk.many b0 = dispatch#
	;;
	.mii
	nop 0
	extr.u r15 = r32, 3, 29
	addp4 r16 = r32, r0
	.mmi
	mov r1 = r41
	;;
	setf.sig f6 = r15
	nop 0
	;;
	.mmf
	nop 0
	nop 0
	xmpy.hu f6 = f6, f2
	;;
	.mmi
	getf.sig r15 = f6
	;;
	nop 0
	shr.u r15 = r15, 4
	;;
	.mii
	nop 0
	shl r14 = r15, 5
	;;
	sub r14 = r14, r15
	;;
	.mmi
	shladd r14 = r14, 2, r0
	;;
	add r14 = r14, r15
	nop 0
	;;
	.mmi
	shladd r14 = r14, 3, r0
	;;
	sub r16 = r16, r14
	nop 0
	;;
	.mib
	nop 0
	cmp4.ne p6, p7 = 0, r16
	(p6) br.cond.dptk .L217
	.mii
	addp4 r14 = r8, r0
	addl r34 = 1, r0
	;;
	xor r33 = r33, r14
	;;
	.mii
	nop 0
	shl r14 = r33, 31
	;;
	add r14 = r14, r33
	;;
	.mmi
	shladd r14 = r14, 3, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	shladd r14 = r14, 2, r0
	;;
	sub r14 = r14, r33
	nop 0
	;;
	.mmi
	shladd r14 = r14, 3, r0
	;;
	add r14 = r14, r33
	nop 0
	;;
	.mii
	shladd r14 = r14, 1, r0
	nop 0
	;;
	add r33 = r14, r33
.L217:
	.mib
	nop 0
	adds r32 = 1, r32
	br.cloop.sptk.few .L218
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r34
	addl r35 = -20, r0
	mov ar.lc = 99
	;;
	.mmi
	nop 0
	(p7) st8 [r36] = r33
	nop 0
	;;
	.mmi
	ld8 r32 = [r36]
	nop 0
	nop 0
	.align 32
.L220:
	.mib
	mov r42 = r35
	addl r43 = 17, r0
	br.call.sptk.many b0 = with_goto#
	;;
	.mmi
	mov r42 = r35
	mov r1 = r41
	nop 0
	.mmb
	addl r43 = 3, r0
	mov r33 = r8
	br.call.sptk.many b0 = dense#
	;;
	.mmi
	mov r1 = r41
	mov r42 = r35
	mov r34 = r8
	.mmb
	addl r43 = 3, r0
	adds r35 = 1, r35
	br.call.sptk.many b0 = clustered#
	;;
	.mmi
	addp4 r14 = r33, r0
	nop 0
	addp4 r34 = r34, r0
	.mii
	addp4 r8 = r8, r0
	mov r1 = r41
	;;
	xor r14 = r32, r14
	;;
	.mii
	nop 0
	shl r15 = r14, 31
	;;
	add r15 = r15, r14
	;;
	.mmi
	shladd r15 = r15, 3, r0
	;;
	sub r15 = r15, r14
	nop 0
	;;
	.mmi
	shladd r15 = r15, 2, r0
	;;
	sub r15 = r15, r14
	nop 0
	;;
	.mmi
	shladd r15 = r15, 3, r0
	;;
	add r15 = r15, r14
	nop 0
	;;
	.mmi
	shladd r15 = r15, 1, r0
	;;
	add r15 = r15, r14
	nop 0
	;;
	.mmi
	xor r15 = r34, r15
	;;
	nop 0
	shl r14 = r15, 31
	;;
	.mmi
	add r14 = r14, r15
	;;
	shladd r14 = r14, 3, r0
	nop 0
	;;
	.mmi
	sub r14 = r14, r15
	;;
	shladd r14 = r14, 2, r0
	nop 0
	;;
	.mmi
	sub r14 = r14, r15
	;;
	shladd r14 = r14, 3, r0
	nop 0
	;;
	.mmi
	add r14 = r14, r15
	;;
	shladd r14 = r14, 1, r0
	nop 0
	;;
	.mmi
	add r14 = r14, r15
	;;
	xor r14 = r8, r14
	nop 0
	;;
	.mii
	nop 0
	shl r32 = r14, 31
	;;
	add r32 = r32, r14
	;;
	.mmi
	shladd r32 = r32, 3, r0
	;;
	sub r32 = r32, r14
	nop 0
	;;
	.mmi
	shladd r32 = r32, 2, r0
	;;
	sub r32 = r32, r14
	nop 0
	;;
	.mmi
	shladd r32 = r32, 3, r0
	;;
	add r32 = r32, r14
	nop 0
	;;
	.mmi
	nop 0
	shladd r32 = r32, 1, r0
	nop 0
	;;
	.mib
	nop 0
	add r32 = r32, r14
	br.cloop.sptk.few .L220
	.mlx
	addl r15 = @gprel(.LC0), gp
	movl r35 = @gprel(CSWTCH.46#)
	.mmi
	addl r37 = @ltoffx(.L315), r1
	addl r38 = @ltoffx(.L312), r1
	addl r14 = 49, r0
	;;
	.mlx
	nop 0
	movl r34 = @gprel(.LC1)
	.mmi
	st8 [r36] = r32
	ld8 r33 = [r15]
	mov r32 = r0
	;;
	.mmi
	add r35 = r1, r35
	ld8.mov r37 = [r37], .L315
	nop 0
	.mmi
	add r34 = r1, r34
	ld8.mov r38 = [r38], .L312
	nop 0
	.align 32
.L297:
	.mmi
	nop 0
	adds r15 = -48, r14
	nop 0
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L221
	.mmi
	adds r15 = -43, r14
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L222
	;;
	.mib
	mov r15 = r14
	cmp4.ne p6, p7 = 46, r14
	(p7) br.cond.dpnt .L432
.L248:
	.mii
	nop 0
	sxt4 r14 = r14
	;;
	and r14 = -33, r14
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 69, r14
	(p6) br.cond.dptk .L225
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 32, r15
	(p6) br.cond.dpnt .L433
.L227:
	.mmi
	adds r14 = -1, r32
	nop 0
	addl r15 = @ltoffx(.L305), r1
	;;
	.mib
	cmp4.ltu p6, p7 = 9, r14
	addp4 r14 = r14, r0
	(p6) br.cond.dpnt .L300
	;;
	.mmi
	shladd r14 = r14, 3, r0
	ld8.mov r15 = [r15], .L305
	nop 0
	;;
	.mmi
	add r14 = r14, r15
	;;
	ld8 r15 = [r14]
	nop 0
	;;
	.mmi
	nop 0
	add r14 = r14, r15
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r14
	br b6
	.section	.rodata
	.align 8
	.align 4
.L305:
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L300)
	data8 @pcrel(.L300)
	data8 @pcrel(.L254)
	.section	.text.startup
.L221:
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	cmp4.ltu p6, p7 = 8, r32
	.mmb
	nop 0
	nop 0
	(p6) br.cond.dpnt .L314
	;;
	.mmi
	add r14 = r14, r37
	;;
	ld8 r15 = [r14]
	nop 0
	;;
	.mmi
	nop 0
	add r14 = r14, r15
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r14
	br b6
	.section	.rodata
	.align 8
	.align 4
.L315:
	data8 @pcrel(.L314)
	data8 @pcrel(.L313)
	data8 @pcrel(.L313)
	data8 @pcrel(.L258)
	data8 @pcrel(.L351)
	data8 @pcrel(.L275)
	data8 @pcrel(.L264)
	data8 @pcrel(.L351)
	data8 @pcrel(.L300)
	.section	.text.startup
.L222:
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	cmp4.ltu p6, p7 = 8, r32
	.mmb
	nop 0
	nop 0
	(p6) br.cond.spnt .L350
	;;
	.mmi
	add r14 = r14, r38
	;;
	ld8 r15 = [r14]
	nop 0
	;;
	.mmi
	nop 0
	add r14 = r14, r15
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r14
	br b6
	.section	.rodata
	.align 8
	.align 4
.L312:
	data8 @pcrel(.L350)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L261)
	data8 @pcrel(.L277)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L300)
	.section	.text.startup
.L225:
	.mib
	nop 0
	cmp4.ltu p6, p7 = 10, r32
	(p6) br.cond.dpnt .L300
.L368:
	.mmi
	addp4 r15 = r32, r0
	nop 0
	addl r16 = @ltoffx(.L301), r1
	;;
	.mii
	ld8.mov r16 = [r16], .L301
	shladd r14 = r15, 3, r0
	;;
	add r14 = r14, r16
	;;
	.mmi
	ld8 r16 = [r14]
	;;
	add r14 = r14, r16
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r14
	br b6
	.section	.rodata
	.align 8
	.align 4
.L301:
	data8 @pcrel(.L300)
	data8 @pcrel(.L254)
	data8 @pcrel(.L245)
	data8 @pcrel(.L254)
	data8 @pcrel(.L245)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L300)
	data8 @pcrel(.L300)
	data8 @pcrel(.L254)
	.section	.text.startup
.L446:
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L409
.L258:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p6) br.cond.dptk .L259
.L411:
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L260
.L398:
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p7) br.cond.dptk .L434
.L261:
	.mmi
	addl r32 = 4, r0
	nop 0
	nop 0
.L254:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L435
	;;
.L306:
	.mib
	nop 0
	dep.z r14 = r32, 3, 4
	nop 0
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mmi
	add r14 = r35, r14
	nop 0
	add r42 = r1, r42
	;;
	.mib
	ld8 r43 = [r14]
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	mov r14 = r16
	.mmb
	adds r15 = -48, r16
	nop 0
	(p6) br.cond.dpnt .L337
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L286
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L286
	;;
	.mmi
	nop 0
	mov r15 = r16
	addl r32 = 10, r0
	.mmb
	nop 0
	cmp4.ne p6, p7 = 46, r16
	(p6) br.cond.dptk .L248
	;;
.L286:
	.mmi
	addl r32 = 10, r0
	nop 0
	nop 0
.L436:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p6) br.cond.dptk .L306
.L435:
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L286
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L286
	;;
	.mmi
	nop 0
	mov r15 = r16
	addl r32 = 10, r0
	.mmb
	nop 0
	cmp4.eq p6, p7 = 46, r16
	(p7) br.cond.dptk .L248
	;;
	.mib
	nop 0
	addl r32 = 10, r0
	br .L436
.L252:
	.mlx
	nop 0
	movl r43 = @gprel(.LC5)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mmi
	nop 0
	add r43 = r1, r43
	add r42 = r1, r42
.L428:
	.mib
	nop 0
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.ne p6, p7 = 0, r16
	(p7) br.cond.dpnt .L230
.L229:
	.mmi
	nop 0
	adds r15 = -48, r16
	nop 0
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L437
.L342:
	.mmi
	addl r32 = 9, r0
	nop 0
	nop 0
.L313:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L438
	;;
.L231:
	.mib
	nop 0
	dep.z r14 = r32, 3, 4
	nop 0
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mmi
	add r14 = r35, r14
	nop 0
	add r42 = r1, r42
	;;
	.mib
	ld8 r43 = [r14]
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	mov r14 = r16
	.mmb
	adds r15 = -48, r16
	nop 0
	(p6) br.cond.dpnt .L328
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L273
.L401:
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L329
	;;
	.mmi
	nop 0
	mov r15 = r16
	addl r32 = 2, r0
	.mmb
	nop 0
	cmp4.ne p6, p7 = 46, r16
	(p6) br.cond.dptk .L248
.L288:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L411
	.mlx
	nop 0
	movl r43 = @gprel(.LC2)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	add r42 = r1, r42
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p6) br.cond.dpnt .L290
.L413:
	.mmi
	nop 0
	adds r15 = -48, r16
	nop 0
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L398
.L260:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L439
	.mlx
	nop 0
	movl r43 = @gprel(.LC3)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	add r42 = r1, r42
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	adds r15 = -48, r16
	.mmb
	mov r14 = r16
	nop 0
	(p6) br.cond.dpnt .L290
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L398
.L319:
	.mmi
	nop 0
	addl r15 = 4, r0
	addl r32 = 4, r0
.L242:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	mov r14 = r16
	;;
	.mib
	nop 0
	(p7) adds r33 = 1, r33
	(p7) br.cond.dptk .L297
	.mii
	addp4 r14 = r15, r0
	mov r42 = r34
	;;
	shladd r14 = r14, 3, r0
	;;
	.mmi
	nop 0
	add r14 = r35, r14
	nop 0
	;;
	.mib
	ld8 r43 = [r14]
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r15 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r15 = r15
	;;
	.mib
	mov r14 = r15
	cmp4.eq p6, p7 = 0, r15
	(p7) br.cond.dptk .L297
	;;
	.mib
	nop 0
	dep.z r14 = r32, 3, 4
	nop 0
	.mlx
	addl r33 = 1, r0
	movl r34 = @gprel(text.0#)
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	.mmi
	add r34 = r1, r34
	;;
	nop 0
	add r35 = r1, r35
	.mmb
	nop 0
	ld8 r42 = [r14]
	br.call.sptk.many b0 = puts#
	;;
	.mmi
	mov r1 = r41
	ld8 r32 = [r36]
	mov ar.lc = 46
	.align 32
.L299:
	.mmi
	adds r14 = 24, r12
	adds r15 = 16, r12
	mov r43 = r33
	;;
	.mmi
	nop 0
	st8 [r14] = r0, 8
	mov r42 = r15
	.mmi
	st8 [r15] = r0
	;;
	st8 [r14] = r0, 8
	nop 0
	;;
	.mmi
	st8 [r14] = r0, 8
	;;
	st8 [r14] = r0, 8
	nop 0
	;;
	.mmi
	st8 [r14] = r0, 8
	;;
	st4 [r14] = r0, 4
	nop 0
	;;
	.mmi
	nop 0
	st2 [r14] = r0, 2
	nop 0
	;;
	.mib
	st1 [r14] = r0
	nop 0
	br.call.sptk.many b0 = duff_copy.constprop.0#
	;;
	.mib
	mov r1 = r41
	adds r42 = 16, r12
	br.call.sptk.many b0 = strlen#
	;;
	.mmi
	xor r32 = r32, r8
	mov r1 = r41
	mov r44 = r33
	.mii
	mov r43 = r34
	adds r42 = 16, r12
	;;
	shl r14 = r32, 31
	;;
	.mmi
	add r14 = r14, r32
	;;
	shladd r14 = r14, 3, r0
	nop 0
	;;
	.mmi
	sub r14 = r14, r32
	;;
	shladd r14 = r14, 2, r0
	nop 0
	;;
	.mmi
	sub r14 = r14, r32
	;;
	shladd r14 = r14, 3, r0
	nop 0
	;;
	.mmi
	add r14 = r14, r32
	;;
	shladd r14 = r14, 1, r0
	nop 0
	;;
	.mmi
	nop 0
	add r32 = r14, r32
	nop 0
	;;
	.mib
	st8 [r36] = r32
	nop 0
	br.call.sptk.many b0 = memcmp#
	;;
	.mib
	mov r1 = r41
	cmp4.eq p6, p7 = 0, r8
	(p7) br.cond.dpnt .L440
	;;
	.mib
	nop 0
	adds r33 = 1, r33
	br.cloop.sptk.few .L299
.L441:
	.mlx
	nop 0
	movl r42 = @gprel(.LC10)
	.mmi
	nop 0
	mov r43 = r32
	nop 0
	;;
	.mib
	add r42 = r1, r42
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	ld8 r8 = [r36]
	mov r1 = r41
	adds r18 = 88, r12
	;;
	.mmi
	and r8 = 63, r8
	ld8 r19 = [r18], 8
	mov b0 = r39
	;;
	.mii
	ldf.fill f2 = [r18]
	mov ar.pfs = r40
	;;
	mov ar.lc = r19
	.mmb
	nop 0
	.label_state 1
	.restore sp
	adds r12 = 96, r12
	br.ret.sptk.many b0
.L300:
	.body
	.copy_state 1
	.mib
	mov r15 = r32
	addl r32 = 8, r0
	br .L242
	;;
.L440:
	.mmi
	mov r43 = r33
	nop 0
	mov r42 = r35
	.mmb
	adds r33 = 1, r33
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mmi
	nop 0
	mov r1 = r41
	nop 0
	.mmb
	ld8 r32 = [r36]
	nop 0
	br.cloop.sptk.few .L299
	.mib
	nop 0
	nop 0
	br .L441
	;;
.L432:
	.mmi
	adds r14 = -1, r32
	nop 0
	addl r15 = @ltoffx(.L316), r1
	;;
	.mib
	cmp4.ltu p6, p7 = 7, r14
	addp4 r14 = r14, r0
	(p6) br.cond.dpnt .L352
	;;
	.mmi
	shladd r14 = r14, 3, r0
	ld8.mov r15 = [r15], .L316
	nop 0
	;;
	.mmi
	add r14 = r14, r15
	;;
	ld8 r15 = [r14]
	nop 0
	;;
	.mmi
	nop 0
	add r14 = r14, r15
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r14
	br b6
	.section	.rodata
	.align 8
	.align 4
.L316:
	data8 @pcrel(.L233)
	data8 @pcrel(.L288)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L300)
	.section	.text.startup
.L447:
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L442
.L275:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L403
	.mlx
	nop 0
	movl r43 = @gprel(.LC8)
	;;
.L422:
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	.mmi
	nop 0
	add r43 = r1, r43
	nop 0
	;;
	.mib
	add r42 = r1, r42
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	adds r15 = -48, r16
	.mmb
	mov r14 = r16
	nop 0
	(p6) br.cond.dpnt .L268
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L396
.L266:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L443
	.mlx
	nop 0
	movl r43 = @gprel(.LC4)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	add r42 = r1, r42
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	mov r14 = r16
	.mmb
	adds r15 = -48, r16
	nop 0
	(p6) br.cond.dpnt .L268
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L355
.L396:
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L267
	;;
.L444:
	.mmi
	nop 0
	mov r15 = r16
	addl r32 = 7, r0
	.mmb
	nop 0
	cmp4.ne p6, p7 = 46, r16
	(p6) br.cond.dptk .L248
	;;
.L267:
	.mib
	nop 0
	addl r32 = 7, r0
	br .L254
.L277:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p6) br.cond.dptk .L278
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L407
.L264:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L403
	.mlx
	nop 0
	movl r43 = @gprel(.LC7)
	.mmb
	nop 0
	nop 0
	br .L422
.L351:
	.mib
	nop 0
	mov r15 = r32
	br .L242
	;;
.L433:
	.mmi
	adds r14 = -1, r32
	nop 0
	addl r15 = @ltoffx(.L302), r1
	;;
	.mib
	cmp4.ltu p6, p7 = 9, r14
	addp4 r14 = r14, r0
	(p6) br.cond.dpnt .L228
	;;
	.mmi
	shladd r14 = r14, 3, r0
	ld8.mov r15 = [r15], .L302
	nop 0
	;;
	.mmi
	add r14 = r14, r15
	;;
	ld8 r15 = [r14]
	nop 0
	;;
	.mmi
	nop 0
	add r14 = r14, r15
	nop 0
	;;
	.mib
	nop 0
	mov b6 = r14
	br b6
	.section	.rodata
	.align 8
	.align 4
.L302:
	data8 @pcrel(.L254)
	data8 @pcrel(.L236)
	data8 @pcrel(.L254)
	data8 @pcrel(.L240)
	data8 @pcrel(.L254)
	data8 @pcrel(.L254)
	data8 @pcrel(.L249)
	data8 @pcrel(.L303)
	data8 @pcrel(.L228)
	data8 @pcrel(.L252)
	.section	.text.startup
.L403:
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L266
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L267
	.mib
	nop 0
	nop 0
	br .L444
.L437:
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L325
	;;
	.mib
	mov r15 = r16
	cmp4.ne p6, p7 = 46, r16
	(p7) br.cond.dpnt .L322
.L251:
	.mib
	nop 0
	addl r32 = 9, r0
	br .L248
.L259:
	.mlx
	nop 0
	movl r43 = @gprel(.LC6)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	add r42 = r1, r42
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.ne p6, p7 = 0, r16
	(p6) br.cond.dptk .L413
.L290:
	.mlx
	addl r32 = 4, r0
	movl r34 = @gprel(text.0#)
	.mmi
	nop 0
	addl r33 = 1, r0
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	add r34 = r1, r34
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	;;
	.mmi
	nop 0
	add r35 = r1, r35
	nop 0
	.mmb
	ld8 r42 = [r14]
	nop 0
	br.call.sptk.many b0 = puts#
	;;
	.mmb
	nop 0
	mov r1 = r41
	nop 0
	.mib
	ld8 r32 = [r36]
	mov ar.lc = 46
	br .L299
	;;
.L434:
	.mmi
	nop 0
	mov r15 = r16
	addl r32 = 4, r0
	.mmb
	nop 0
	cmp4.ne p6, p7 = 46, r16
	(p6) br.cond.dptk .L248
	;;
	.mib
	nop 0
	addl r32 = 4, r0
	br .L254
.L240:
	.mlx
	nop 0
	movl r43 = @gprel(.LC3)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	add r42 = r1, r42
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.ne p6, p7 = 0, r16
	nop 0
	mov r14 = r16
	.mmb
	adds r15 = -48, r16
	nop 0
	(p7) br.cond.dpnt .L230
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L342
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p7) br.cond.dptk .L445
.L325:
	.mmi
	addl r15 = 9, r0
	nop 0
	nop 0
.L238:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p6) br.cond.dptk .L269
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L270
.L386:
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L271
	;;
	.mmi
	nop 0
	mov r15 = r16
	addl r32 = 1, r0
	.mmb
	nop 0
	cmp4.ne p6, p7 = 46, r16
	(p6) br.cond.dptk .L248
	;;
	.mmi
	addl r32 = 1, r0
	nop 0
	nop 0
.L233:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L446
	;;
	.mib
	nop 0
	dep.z r14 = r32, 3, 4
	nop 0
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mmi
	add r14 = r35, r14
	nop 0
	add r42 = r1, r42
	;;
	.mib
	ld8 r43 = [r14]
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	mov r14 = r16
	.mmb
	adds r15 = -48, r16
	nop 0
	(p6) br.cond.dpnt .L335
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L258
.L409:
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L336
	;;
	.mmi
	nop 0
	mov r15 = r16
	addl r32 = 3, r0
	.mmb
	nop 0
	cmp4.ne p6, p7 = 46, r16
	(p6) br.cond.dptk .L248
	.mib
	nop 0
	nop 0
	br .L254
	;;
.L438:
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L401
.L273:
	.mii
	ld1 r16 = [r33]
	addl r32 = 2, r0
	;;
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p6) br.cond.dptk .L231
	.mib
	nop 0
	nop 0
	br .L438
.L245:
	.mmi
	ld1 r16 = [r33]
	;;
	nop 0
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L447
	;;
	.mlx
	shladd r14 = r15, 3, r0
	movl r42 = @gprel(.LC1)
	;;
	.mmi
	add r14 = r35, r14
	nop 0
	add r42 = r1, r42
	;;
	.mib
	ld8 r43 = [r14]
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	mov r14 = r16
	.mmb
	adds r15 = -48, r16
	nop 0
	(p6) br.cond.dpnt .L333
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L275
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L277
	;;
	.mib
	mov r15 = r16
	cmp4.ne p6, p7 = 46, r16
	(p7) br.cond.dpnt .L282
.L284:
	.mib
	nop 0
	addl r32 = 5, r0
	br .L248
	;;
.L314:
	.mii
	ld1 r16 = [r33]
	mov r32 = r0
	;;
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p6) br.cond.dptk .L231
	.mib
	nop 0
	nop 0
	br .L438
	;;
.L269:
	.mlx
	addp4 r14 = r15, r0
	movl r42 = @gprel(.LC1)
	;;
	.mii
	shladd r14 = r14, 3, r0
	add r42 = r1, r42
	;;
	add r14 = r35, r14
	;;
	.mib
	ld8 r43 = [r14]
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	adds r15 = -48, r16
	.mmb
	mov r14 = r16
	nop 0
	(p6) br.cond.dpnt .L326
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L386
.L270:
	.mii
	ld1 r16 = [r33]
	addl r32 = 1, r0
	;;
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p6) br.cond.dptk .L231
	.mib
	nop 0
	nop 0
	br .L438
.L278:
	.mlx
	nop 0
	movl r43 = @gprel(.LC8)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	add r42 = r1, r42
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mmi
	cmp4.eq p6, p7 = 0, r16
	nop 0
	mov r14 = r16
	.mmb
	adds r15 = -48, r16
	nop 0
	(p6) br.cond.dpnt .L331
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L264
.L407:
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L332
	;;
	.mmi
	nop 0
	mov r15 = r16
	addl r32 = 6, r0
	.mmb
	nop 0
	cmp4.ne p6, p7 = 46, r16
	(p6) br.cond.dptk .L248
	.mib
	nop 0
	nop 0
	br .L254
	;;
.L445:
	.mib
	mov r15 = r16
	cmp4.eq p6, p7 = 46, r16
	(p7) br.cond.dptk .L251
.L322:
	.mib
	nop 0
	addl r32 = 9, r0
	br .L233
.L249:
	.mlx
	nop 0
	movl r43 = @gprel(.LC4)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	add r42 = r1, r42
	br .L428
	;;
.L236:
	.mlx
	nop 0
	movl r43 = @gprel(.LC2)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	add r42 = r1, r42
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.eq p6, p7 = 0, r16
	(p7) br.cond.dptk .L229
.L230:
	.mlx
	addl r32 = 9, r0
	movl r34 = @gprel(text.0#)
	.mmi
	nop 0
	addl r33 = 1, r0
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	add r34 = r1, r34
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	;;
	.mmi
	nop 0
	add r35 = r1, r35
	nop 0
	.mmb
	ld8 r42 = [r14]
	nop 0
	br.call.sptk.many b0 = puts#
	;;
	.mmb
	nop 0
	mov r1 = r41
	nop 0
	.mib
	ld8 r32 = [r36]
	mov ar.lc = 46
	br .L299
.L443:
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p7) br.cond.dptk .L396
.L355:
	.mib
	addl r15 = 7, r0
	addl r32 = 7, r0
	br .L242
	;;
.L329:
	.mib
	nop 0
	addl r32 = 2, r0
	br .L254
.L439:
	.mmi
	adds r15 = -48, r16
	nop 0
	adds r33 = 1, r33
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L319
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L261
	.mib
	nop 0
	nop 0
	br .L434
.L336:
	.mib
	nop 0
	addl r32 = 3, r0
	br .L254
	;;
.L332:
	.mib
	nop 0
	addl r32 = 6, r0
	br .L254
	;;
.L271:
	.mib
	nop 0
	addl r32 = 1, r0
	br .L254
.L442:
	.mmi
	adds r15 = -43, r16
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L277
	;;
	.mib
	mov r15 = r16
	cmp4.eq p6, p7 = 46, r16
	(p7) br.cond.dptk .L284
.L282:
	.mib
	nop 0
	addl r32 = 5, r0
	br .L254
	;;
.L337:
	.mlx
	addl r32 = 10, r0
	movl r34 = @gprel(text.0#)
	.mmi
	nop 0
	addl r33 = 1, r0
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	add r34 = r1, r34
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	;;
	.mmi
	nop 0
	add r35 = r1, r35
	nop 0
	.mmb
	ld8 r42 = [r14]
	nop 0
	br.call.sptk.many b0 = puts#
	;;
	.mmb
	nop 0
	mov r1 = r41
	nop 0
	.mib
	ld8 r32 = [r36]
	mov ar.lc = 46
	br .L299
	;;
.L303:
	.mlx
	nop 0
	movl r43 = @gprel(.LC11)
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mib
	add r43 = r1, r43
	add r42 = r1, r42
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r14 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r14 = r14
	;;
	.mib
	cmp4.ne p6, p7 = 0, r14
	adds r15 = -48, r14
	(p7) br.cond.dpnt .L230
	;;
	.mib
	nop 0
	cmp4.geu p6, p7 = 9, r15
	(p6) br.cond.dptk .L342
	.mmi
	adds r15 = -43, r14
	;;
	and r15 = -3, r15
	nop 0
	;;
	.mii
	nop 0
	zxt1 r15 = r15
	nop 0
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 0, r15
	(p6) br.cond.dptk .L325
	;;
	.mmi
	cmp4.eq p6, p7 = 46, r14
	nop 0
	and r15 = -33, r14
	.mmb
	addl r32 = 9, r0
	nop 0
	(p6) br.cond.dpnt .L322
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 69, r15
	(p6) br.cond.dptk .L368
	;;
	.mib
	nop 0
	cmp4.eq p6, p7 = 32, r14
	(p7) br.cond.dptk .L227
.L228:
	.mib
	nop 0
	dep.z r14 = r32, 3, 4
	nop 0
	.mlx
	nop 0
	movl r42 = @gprel(.LC1)
	;;
	.mmi
	add r14 = r35, r14
	nop 0
	add r42 = r1, r42
	;;
	.mib
	ld8 r43 = [r14]
	nop 0
	br.call.sptk.many b0 = printf#
	;;
	.mii
	ld1 r16 = [r33], 1
	mov r1 = r41
	;;
	sxt1 r16 = r16
	;;
	.mib
	mov r14 = r16
	cmp4.ne p6, p7 = 0, r16
	(p6) br.cond.dptk .L229
	.mib
	nop 0
	nop 0
	br .L230
.L350:
	.mib
	nop 0
	mov r15 = r0
	br .L238
.L333:
	.mlx
	addl r32 = 5, r0
	movl r34 = @gprel(text.0#)
	.mmi
	nop 0
	addl r33 = 1, r0
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	add r34 = r1, r34
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	;;
	.mmi
	nop 0
	add r35 = r1, r35
	nop 0
	.mmb
	ld8 r42 = [r14]
	nop 0
	br.call.sptk.many b0 = puts#
	;;
	.mmb
	nop 0
	mov r1 = r41
	nop 0
	.mib
	ld8 r32 = [r36]
	mov ar.lc = 46
	br .L299
	;;
.L268:
	.mlx
	addl r32 = 7, r0
	movl r34 = @gprel(text.0#)
	.mmi
	nop 0
	addl r33 = 1, r0
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	add r34 = r1, r34
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	;;
	.mmi
	nop 0
	add r35 = r1, r35
	nop 0
	.mmb
	ld8 r42 = [r14]
	nop 0
	br.call.sptk.many b0 = puts#
	;;
	.mmb
	nop 0
	mov r1 = r41
	nop 0
	.mib
	ld8 r32 = [r36]
	mov ar.lc = 46
	br .L299
	;;
.L328:
	.mlx
	addl r32 = 2, r0
	movl r34 = @gprel(text.0#)
	.mmi
	nop 0
	addl r33 = 1, r0
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	add r34 = r1, r34
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	;;
	.mmi
	nop 0
	add r35 = r1, r35
	nop 0
	.mmb
	ld8 r42 = [r14]
	nop 0
	br.call.sptk.many b0 = puts#
	;;
	.mmb
	nop 0
	mov r1 = r41
	nop 0
	.mib
	ld8 r32 = [r36]
	mov ar.lc = 46
	br .L299
	;;
.L335:
	.mlx
	addl r32 = 3, r0
	movl r34 = @gprel(text.0#)
	.mmi
	nop 0
	addl r33 = 1, r0
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	add r34 = r1, r34
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	;;
	.mmi
	nop 0
	add r35 = r1, r35
	nop 0
	.mmb
	ld8 r42 = [r14]
	nop 0
	br.call.sptk.many b0 = puts#
	;;
	.mmb
	nop 0
	mov r1 = r41
	nop 0
	.mib
	ld8 r32 = [r36]
	mov ar.lc = 46
	br .L299
	;;
.L326:
	.mlx
	addl r32 = 1, r0
	movl r34 = @gprel(text.0#)
	.mmi
	nop 0
	addl r33 = 1, r0
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	add r34 = r1, r34
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	;;
	.mmi
	nop 0
	add r35 = r1, r35
	nop 0
	.mmb
	ld8 r42 = [r14]
	nop 0
	br.call.sptk.many b0 = puts#
	;;
	.mmb
	nop 0
	mov r1 = r41
	nop 0
	.mib
	ld8 r32 = [r36]
	mov ar.lc = 46
	br .L299
	;;
.L331:
	.mlx
	addl r32 = 6, r0
	movl r34 = @gprel(text.0#)
	.mmi
	nop 0
	addl r33 = 1, r0
	nop 0
	;;
	.mii
	nop 0
	dep.z r14 = r32, 3, 4
	add r34 = r1, r34
	;;
	.mlx
	add r14 = r35, r14
	movl r35 = @gprel(.LC9)
	;;
	.mmi
	nop 0
	add r35 = r1, r35
	nop 0
	.mmb
	ld8 r42 = [r14]
	nop 0
	br.call.sptk.many b0 = puts#
	;;
	.mmb
	nop 0
	mov r1 = r41
	nop 0
	.mib
	ld8 r32 = [r36]
	mov ar.lc = 46
	br .L299
	;;
.L352:
	.mib
	nop 0
	mov r32 = r0
	br .L233
	.endp main#
	.section	.rodata.str1.8
	.align 8
.LC12:
	stringz	"start"
	.align 8
.LC13:
	stringz	"sign"
	.align 8
.LC14:
	stringz	"space"
	.section	.rodata
	.align 8
	.type	CSWTCH.46#, @object
	.size	CSWTCH.46#, 88
CSWTCH.46:
	data8	.LC12
	data8	.LC13
	data8	.LC2
	data8	.LC6
	data8	.LC3
	data8	.LC8
	data8	.LC7
	data8	.LC4
	data8	.LC11
	data8	.LC14
	data8	.LC5
	.align 8
	.type	text.0#, @object
	.size	text.0#, 47
text.0:
	stringz	"12 -3.5e+7 .5 abc 1e 7x 42 +9. 6.02e23 -x .. 8"
	.section	.sdata,"aws"
	.align 8
	.type	digest#, @object
	.size	digest#, 8
digest:
	data8	-3750763034362895579
	.ident	"GCC: (GNU) 12.2.0"
