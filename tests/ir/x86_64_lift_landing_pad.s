# The exception table says that an exception of the call goes to the pad: the call has an edge
# there. What throws elsewhere in f ends the program.
# run: lift
# Each block stands alone. The output catches the same exceptions in the same places.
# run: rewrite scatter seed=1
# link: -e f --build-id
        .text
        .globl  f, g, __gxx_personality_v0
        .type   f,@function
f:      .cfi_startproc
        .cfi_personality 0x1b,__gxx_personality_v0
        .cfi_lsda 0x1b,lsda
        sub     $8,%rsp
        .cfi_def_cfa_offset 16
.Lcall: call    g
.Lnext: add     $8,%rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_def_cfa_offset 16
.Lpad:  mov     $1,%eax
        add     $8,%rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   f,.-f
        .type   g,@function
        .type   __gxx_personality_v0,@function
__gxx_personality_v0:
g:      ret
        .size   g,.-g
        .section .gcc_except_table,"a"
lsda:   .byte   0xff                    # LPStart: that of the procedure
        .byte   0xff                    # no types
        .byte   1                       # call sites: uleb128
        .uleb128 2f-1f
1:      .uleb128 .Lcall-f
        .uleb128 .Lnext-.Lcall
        .uleb128 .Lpad-f
        .uleb128 0
2:
