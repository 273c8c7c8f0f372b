# In position-independent code the unwind information finds the handler through a word, DW.ref.NAME,
# whose name tells that the handler reads tables of split procedures: f may move.
# run: lift
# link: -pie -e f
        .text
        .globl  f, g
        .type   f,@function
f:      .cfi_startproc
        .cfi_personality 0x9b,DW.ref.__gxx_personality_v0
        .cfi_lsda 0x1b,lsda
.Lcall: call    g
.Lnext: ret
.Lpad:  ret
        .cfi_endproc
        .size   f,.-f
        .type   g,@function
g:      ret
        .size   g,.-g
        .type   __gxx_personality_v0,@function
__gxx_personality_v0:
        ret
        .size   __gxx_personality_v0,.-__gxx_personality_v0
        .section .gcc_except_table,"a"
lsda:   .byte   0xff, 0xff, 1
        .uleb128 2f-1f
1:      .uleb128 .Lcall-f
        .uleb128 .Lnext-.Lcall
        .uleb128 .Lpad-f
        .uleb128 0
2:
        .section .data.rel.ro,"aw"
        .hidden DW.ref.__gxx_personality_v0
        .weak   DW.ref.__gxx_personality_v0
        .balign 8
DW.ref.__gxx_personality_v0:
        .quad   __gxx_personality_v0
