# An address of a procedure in data is that of a descriptor, whose first word is the entry: that word
# is the pointer to code.
# run: lift
        .text
        .explicit
        .global f#
        .proc   f#
f:
{ .mib
        addl    r14=@ltoff(@fptr(f#)),gp
        nop.i   0
        br.ret.sptk.many b0
}
        .endp   f#
        .data
        data8   @fptr(f#)
