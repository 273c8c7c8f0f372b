# The linker pieces .init together from several objects: the order of the pieces is their meaning.
# run: lift
# link: -e _init
        .section .init,"ax"
        .globl  _init
        .type   _init,@function
_init:  sub     $8,%rsp
        .text
        .globl  f
        .type   f,@function
f:      call    _init
        ret
        .size   f,.-f
# file: end.s
        .section .init,"ax"
        call    f
        add     $8,%rsp
        ret
