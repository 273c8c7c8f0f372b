# OCaml's code pushes the address of a handler inside of its own procedure, to which an exception
# jumps: the only use of such an address, so it is an entry, and the code may move.
# run: lift
        .text
        .globl  f, camlM__f
        .type   f,@function
f:      call    camlM__f
        ret
        .size   f,.-f
        .p2align 4
        .globl  camlM__code_begin
camlM__code_begin:
        .type   camlM__f,@function
camlM__f:
        lea     1f(%rip),%r11
        push    %r11
        call    *(%rbx)
        ret
1:      mov     $1,%eax
        ret
        .size   camlM__f,.-camlM__f
        .globl  camlM__code_end
camlM__code_end:
        .data
        .balign 8
        .globl  caml_code_segments
caml_code_segments:
        .quad   camlM__code_begin, camlM__code_end, 0
