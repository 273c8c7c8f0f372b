# The entry of programs with constructors: runs them in order, then main(); destructors run at exit. A C library for
# Windows NT would do this; the test world's has no part in the image.
	.set noat
	.set noreorder
	.text
	.align 4
	.globl respike_start
	.ent respike_start
respike_start:
	.frame $30,48,$26,0
	lda $30,-48($30)
	stq $26,0($30)
	stq $9,8($30)
	stq $10,16($30)
	stq $11,24($30)
	stq $12,32($30)
	stq $13,40($30)
	.prologue 0
$start_prolog:
	mov $16,$11
	mov $17,$12
	mov $18,$13
	ldah $16,run_destructors($31) !gprelhigh
	lda $16,run_destructors($16) !gprellow
	bsr $26,atexit !samegp
	ldah $9,__init_array_start($31) !gprelhigh
	lda $9,__init_array_start($9) !gprellow
	ldah $10,__init_array_end($31) !gprelhigh
	lda $10,__init_array_end($10) !gprellow
$next:
	cmpult $9,$10,$1
	beq $1,$all_made
	ldq $27,0($9)
	mov $11,$16
	mov $12,$17
	mov $13,$18
	jsr $26,($27),0
	lda $9,8($9)
	br $31,$next
$all_made:
	mov $11,$16
	mov $12,$17
	mov $13,$18
	bsr $26,main !samegp
	ldq $26,0($30)
	ldq $9,8($30)
	ldq $10,16($30)
	ldq $11,24($30)
	ldq $12,32($30)
	ldq $13,40($30)
	lda $30,48($30)
	ret $31,($26),1
$start_end:
	.end respike_start

	.align 4
	.ent run_destructors
run_destructors:
	.frame $30,32,$26,0
	lda $30,-32($30)
	stq $26,0($30)
	stq $9,8($30)
	stq $10,16($30)
	.prologue 0
$run_prolog:
	ldah $9,__fini_array_start($31) !gprelhigh
	lda $9,__fini_array_start($9) !gprellow
	ldah $10,__fini_array_end($31) !gprelhigh
	lda $10,__fini_array_end($10) !gprellow
$last:
	cmpult $9,$10,$1
	beq $1,$all_run
	lda $10,-8($10)
	ldq $27,0($10)
	jsr $26,($27),0
	br $31,$last
$all_run:
	ldq $26,0($30)
	ldq $9,8($30)
	ldq $10,16($30)
	lda $30,32($30)
	ret $31,($26),1
$run_end:
	.end run_destructors

	.section .pdata,"a",@progbits
	.align 2
	.long respike_start,$start_end,0,0,$start_prolog
	.long run_destructors,$run_end,0,0,$run_prolog
	.section .note.GNU-stack,"",@progbits
