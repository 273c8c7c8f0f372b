# A handler with a type: the call site keeps its action, and the table that is written for the moved
# code has the type's address, too.
# run: lift
# run: rewrite scatter seed=1
# link: -e f --build-id
        .text
        .globl  f, g
        .type   f,@function
f:      .cfi_startproc
        .cfi_personality 0x3,__gxx_personality_v0
        .cfi_lsda 0x3,lsda
.Lcall: call    g
.Lnext: ret
.Lpad:  cmp     $1,%edx
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
        .byte   0x3                     # types: addresses of 32 bits
        .uleb128 4f-1f
1:      .byte   1                       # call sites: uleb128
        .uleb128 3f-2f
2:      .uleb128 .Lcall-f
        .uleb128 .Lnext-.Lcall
        .uleb128 .Lpad-f
        .uleb128 1                      # the first action
3:      .byte   1, 0                    # type 1, the last
        .balign 4
        .long   type
4:
        .data
type:   .quad   0
