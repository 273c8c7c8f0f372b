# The landing pad of f is in a part of its own, which no name joins to f: the exception table does,
# by the start of its pads.
# run: lift
        .text
        .globl  f, g, __gxx_personality_v0
        .type   f,@function
f:      .cfi_startproc
        .cfi_personality 0x1b,__gxx_personality_v0
        .cfi_lsda 0x1b,lsda
.Lcall: call    g
.Lnext: ret
        .cfi_endproc
        .size   f,.-f
        .type   g,@function
        .type   __gxx_personality_v0,@function
__gxx_personality_v0:
g:      ret
        .size   g,.-g
        .type   part,@function
part:   .cfi_startproc
        nop
.Lpad:  ret
        .cfi_endproc
        .size   part,.-part
        .section .gcc_except_table,"a"
lsda:   .byte   0x1b                    # LPStart: a distance
        .long   part-.
        .byte   0xff                    # no types
        .byte   1                       # call sites: uleb128
        .uleb128 2f-1f
1:      .uleb128 .Lcall-f
        .uleb128 .Lnext-.Lcall
        .uleb128 .Lpad-part
        .uleb128 0
2:
