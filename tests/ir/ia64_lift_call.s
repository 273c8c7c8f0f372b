# A call ends its bundle: control returns to the next one. gp is put back by a copy behind it, which
# is plain code.
# run: lift
        .text
        .explicit
        .global f#
        .proc   f#
f:
{ .mii
        alloc   r34=ar.pfs,1,3,0,0
        mov     r33=b0
        mov     r35=gp
}
{ .mfb
        nop.m   0
        nop.f   0
        br.call.sptk.many b0=g# ;;
}
{ .mib
        mov     gp=r35
        mov     b0=r33
        nop.b   0 ;;
}
{ .mib
        nop.m   0
        mov.i   ar.pfs=r34
        br.ret.sptk.many b0
}
        .endp   f#
        .global g#
        .proc   g#
g:
{ .mfb
        nop.m   0
        nop.f   0
        br.ret.sptk.many b0
}
        .endp   g#
