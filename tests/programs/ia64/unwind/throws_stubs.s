// The callees of throws.s. Nothing is thrown, so only plain is ever called.

	.text
	.global plain#
	.proc plain#
plain:
	.prologue
	.body
	mov r8 = r32
	br.ret.sptk.many b0
	.endp plain#

	.global __gxx_personality_v0#
	.proc __gxx_personality_v0#
__gxx_personality_v0:
	.prologue
	.body
	br.ret.sptk.many b0
	.endp __gxx_personality_v0#

	.global __cxa_begin_catch#
	.proc __cxa_begin_catch#
__cxa_begin_catch:
	.prologue
	.body
	br.ret.sptk.many b0
	.endp __cxa_begin_catch#

	.global __cxa_end_catch#
	.proc __cxa_end_catch#
__cxa_end_catch:
	.prologue
	.body
	br.ret.sptk.many b0
	.endp __cxa_end_catch#

	.global __cxa_call_terminate#
	.proc __cxa_call_terminate#
__cxa_call_terminate:
	.prologue
	.body
	br.ret.sptk.many b0
	.endp __cxa_call_terminate#

	.global _Unwind_Resume#
	.proc _Unwind_Resume#
_Unwind_Resume:
	.prologue
	.body
	br.ret.sptk.many b0
	.endp _Unwind_Resume#

	.section .rodata, "a"
	.align 8
	.global _ZTIi#
_ZTIi:
	data8 0
