# A program in the code form of Windows NT, two of whose procedures have scope tables: __try with
# __except, inside __try with __finally; and a procedure with a handler and no table.
	.set noat
	.set noreorder
	.text
	.align 4
	.globl start
	.ent start
start:
	.frame $30,16,$26,0
	lda $30,-16($30)
	stq $26,0($30)
	.prologue 0
$start_prolog_end:
$try:
	bsr $26,work !samegp
	ldah $1,counter($31) !gprelhigh
	ldq $1,counter($1) !gprellow
	beq $1,$inner
	addq $0,1,$0
$inner:
	ldq $2,0($0)
	bne $2,$inner_end
	bsr $26,other !samegp
$inner_end:
	addq $0,2,$0
$try_end:
	bsr $26,finally !samegp
$leave:
	ldq $26,0($30)
	lda $30,16($30)
	ret $31,($26),1
$except:
	lda $0,7($31)
	br $31,$leave
$start_end:
	.end start

	.align 4
	.ent filter
filter:
	.frame $30,0,$26,0
	.prologue 0
	lda $0,1($31)
	ret $31,($26),1
$filter_end:
	.end filter

	.align 4
	.ent finally
finally:
	.frame $30,0,$26,0
	.prologue 0
	ldah $1,counter($31) !gprelhigh
	lda $1,counter($1) !gprellow
	ldq $2,0($1)
	addq $2,1,$2
	stq $2,0($1)
	ret $31,($26),1
$finally_end:
	.end finally

	.align 4
	.ent work
work:
	.frame $30,32,$26,0
	lda $30,-32($30)
	stq $26,0($30)
	stq $9,8($30)
	.prologue 0
$work_prolog_end:
	mov $31,$9
$again:
	addq $9,1,$9
	bsr $26,filter !samegp
	cmplt $9,3,$1
	bne $1,$again
$work_try_end:
	mov $9,$0
	ldq $9,8($30)
	ldq $26,0($30)
	lda $30,32($30)
	ret $31,($26),1
$work_end:
	.end work

	.align 4
	.ent other
other:
	.frame $30,16,$26,0
	lda $30,-16($30)
	stq $26,0($30)
	.prologue 0
$other_prolog_end:
	bsr $26,finally !samegp
	ldq $26,0($30)
	lda $30,16($30)
	ret $31,($26),1
$other_end:
	.end other

	.section .rodata,"a",@progbits
	.align 3
start_scopes:
	.long 2
	.long $inner,$inner_end,filter,$except
	.long $try,$try_end,finally,0
work_scopes:
	.long 1
	.long $again,$work_try_end,finally,0

	.data
	.align 3
counter:
	.quad 0

	.section .pdata,"a",@progbits
	.align 2
	.long start,$start_end,__C_specific_handler,start_scopes,$start_prolog_end
	.long filter,$filter_end,0,0,filter
	.long finally,$finally_end,0,0,finally
	.long work,$work_end,__C_specific_handler,work_scopes,$work_prolog_end
	.long other,$other_end,__C_specific_handler,0,$other_prolog_end
	.section .note.GNU-stack,"",@progbits
