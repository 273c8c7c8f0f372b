# Procedures with __try, in the form in which compilers for Windows NT write them: scope tables of {begin, end,
# handler, jump target}, filters and code that runs finally as procedures of their own. gcc has no __try for Alpha.
	.set noat
	.set noreorder
	.text

# long catches(long what): __try { work(what) } __except (wants_most) { caught }
	.align 4
	.globl catches
	.ent catches
catches:
	.frame $30,48,$26,0
	lda $30,-48($30)
	stq $26,0($30)
	stq $9,8($30)
	stq $10,16($30)
	.prologue 0
$catches_prolog:
	mov $16,$9
	lda $10,1000($16)
	stq $9,24($30)
$catches_try:
	mov $9,$16
	blt $9,$catches_less
	bsr $26,work !samegp
	br $31,$catches_sum
$catches_less:
	lda $16,-1($31)
	bsr $26,work !samegp
$catches_sum:
	addq $0,$10,$10
$catches_try_end:
	mov $10,$0
$catches_leave:
	ldq $26,0($30)
	ldq $9,8($30)
	ldq $10,16($30)
	lda $30,48($30)
	ret $31,($26),1
$catches_except:
	mov $0,$16
	addq $9,$10,$17
	bsr $26,caught !samegp
	br $31,$catches_leave
$catches_end:
	.end catches

# long cleans_up(long what): __try { work(what) } __finally { at_the_end }
	.align 4
	.globl cleans_up
	.ent cleans_up
cleans_up:
	.frame $30,48,$26,0
	lda $30,-48($30)
	stq $26,0($30)
	stq $9,8($30)
	stt $f2,16($30)
	.prologue 0
$cleans_up_prolog:
	mov $16,$9
	stq $9,24($30)
	cpys $f31,$f31,$f2
$cleans_up_try:
	mov $9,$16
	bsr $26,work !samegp
	mov $0,$9
$cleans_up_try_end:
	mov $31,$16
	mov $30,$17
	bsr $26,at_the_end !samegp
	mov $9,$0
	ldq $26,0($30)
	ldq $9,8($30)
	ldt $f2,16($30)
	lda $30,48($30)
	ret $31,($26),1
$cleans_up_end:
	.end cleans_up

# long nested(long what): __try { __try { __try { cleans_up } __finally {} } __except (wants_most) {} } __except (all) {}
	.align 4
	.globl nested
	.ent nested
nested:
	.frame $30,64,$26,0
	lda $30,-64($30)
	stq $26,0($30)
	stq $9,8($30)
	stq $10,16($30)
	stq $11,32($30)
	.prologue 0
$nested_prolog:
	mov $16,$9
	lda $10,7($16)
	lda $11,-5($31)
	stq $10,24($30)
$nested_outer:
	cmple $9,4,$1
	beq $1,$nested_no
$nested_middle:
	addq $10,1,$10
$nested_inner:
	mov $9,$16
	bsr $26,cleans_up !samegp
	addq $0,$10,$11
$nested_inner_end:
	mov $31,$16
	mov $30,$17
	bsr $26,at_the_end !samegp
$nested_middle_end:
	br $31,$nested_sum
$nested_middle_except:
	mov $0,$16
	mov $10,$17
	bsr $26,caught !samegp
	subq $0,$9,$11
	br $31,$nested_sum
$nested_no:
	lda $11,99($31)
$nested_sum:
	addq $11,$10,$11
$nested_outer_end:
	mov $11,$0
$nested_leave:
	ldq $26,0($30)
	ldq $9,8($30)
	ldq $10,16($30)
	ldq $11,32($30)
	lda $30,64($30)
	ret $31,($26),1
$nested_outer_except:
	mov $0,$16
	lda $17,-2($31)
	bsr $26,caught !samegp
	addq $9,$10,$0
	br $31,$nested_leave
$nested_end:
	.end nested

# long touches(long* where, long what): loads in __try, __except (all); the faults are its own
	.align 4
	.globl touches
	.ent touches
touches:
	.frame $30,32,$26,0
	lda $30,-32($30)
	stq $26,0($30)
	stq $9,8($30)
	stq $10,16($30)
	.prologue 0
$touches_prolog:
	mov $16,$9
	mov $17,$10
$touches_try:
	ldq $1,0($9)
	cmpeq $10,4,$2
	bne $2,$touches_four
	cmpeq $10,5,$2
	beq $2,$touches_usual
	ldq $1,-64($31)
	br $31,$touches_usual
$touches_four:
	ldah $3,-32768($31)
	stq $1,0($3)
$touches_usual:
	s8addq $10,$9,$2
	ldq $2,0($2)
	addq $1,$2,$0
$touches_try_end:
	br $31,$touches_leave
$touches_except:
	lda $0,-77($31)
	subq $0,$10,$0
$touches_leave:
	ldq $26,0($30)
	ldq $9,8($30)
	ldq $10,16($30)
	lda $30,32($30)
	ret $31,($26),1
$touches_end:
	.end touches

# long goes_on(long* where): the filter repairs what failed, and the load happens again
	.align 4
	.globl goes_on
	.ent goes_on
goes_on:
	.frame $30,16,$26,0
	lda $30,-16($30)
	stq $26,0($30)
	.prologue 0
$goes_on_prolog:
	lda $1,3($31)
$goes_on_try:
	ldq $0,0($16)
	addq $0,$1,$0
$goes_on_try_end:
	br $31,$goes_on_leave
$goes_on_except:
	lda $0,-1($31)
$goes_on_leave:
	ldq $26,0($30)
	lda $30,16($30)
	ret $31,($26),1
$goes_on_end:
	.end goes_on

# long handles_itself(long what): a handler of its own, without a scope table, that wants nothing
	.align 4
	.globl handles_itself
	.ent handles_itself
handles_itself:
	.frame $30,32,$26,0
	lda $30,-32($30)
	stq $26,0($30)
	stq $9,8($30)
	.prologue 0
$handles_itself_prolog:
	mov $16,$9
	bsr $26,catches !samegp
	addq $0,$9,$0
	ldq $26,0($30)
	ldq $9,8($30)
	lda $30,32($30)
	ret $31,($26),1
$handles_itself_end:
	.end handles_itself

	.align 4
	.ent wants_nothing
wants_nothing:
	.frame $30,0,$26,0
	.prologue 0
	lda $0,1($31)
	ret $31,($26),1
$wants_nothing_end:
	.end wants_nothing

	.section .rodata,"a",@progbits
	.align 2
scopes_catches:
	.long 1
	.long $catches_try,$catches_try_end,wants_most,$catches_except
scopes_cleans_up:
	.long 1
	.long $cleans_up_try,$cleans_up_try_end,at_the_end,0
scopes_nested:
	.long 3
	.long $nested_inner,$nested_inner_end,at_the_end,0
	.long $nested_middle,$nested_middle_end,wants_most,$nested_middle_except
	.long $nested_outer,$nested_outer_end,1,$nested_outer_except
scopes_touches:
	.long 1
	.long $touches_try,$touches_try_end,1,$touches_except
scopes_goes_on:
	.long 1
	.long $goes_on_try,$goes_on_try_end,repairs,$goes_on_except

	.section .pdata,"a",@progbits
	.align 2
	.long catches,$catches_end,__C_specific_handler,scopes_catches,$catches_prolog
	.long cleans_up,$cleans_up_end,__C_specific_handler,scopes_cleans_up,$cleans_up_prolog
	.long nested,$nested_end,__C_specific_handler,scopes_nested,$nested_prolog
	.long touches,$touches_end,__C_specific_handler,scopes_touches,$touches_prolog
	.long goes_on,$goes_on_end,__C_specific_handler,scopes_goes_on,$goes_on_prolog
	.long handles_itself,$handles_itself_end,wants_nothing,0,$handles_itself_prolog
	.long wants_nothing,$wants_nothing_end,0,0,wants_nothing
	.section .note.GNU-stack,"",@progbits
