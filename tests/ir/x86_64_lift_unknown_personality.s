# The handler of f is none that is known to read tables of split procedures, as those of D by LDC:
# f, which has a landing pad, stays.
# run: lift
        .text
        .globl  f, g
        .type   f,@function
f:      .cfi_startproc
        .cfi_personality 0x1b,_d_eh_personality
        .cfi_lsda 0x1b,lsda
.Lcall: call    g
.Lnext: ret
.Lpad:  ret
        .cfi_endproc
        .size   f,.-f
        .type   g,@function
g:      ret
        .size   g,.-g
        .globl  _d_eh_personality
        .type   _d_eh_personality,@function
_d_eh_personality:
        ret
        .size   _d_eh_personality,.-_d_eh_personality
        .section .gcc_except_table,"a"
lsda:   .byte   0xff, 0xff, 1
        .uleb128 2f-1f
1:      .uleb128 .Lcall-f
        .uleb128 .Lnext-.Lcall
        .uleb128 .Lpad-f
        .uleb128 0
2:
