# OCaml's compiler lists the return address of each call in a table, which the garbage collector
# reads: the word follows its call, and is no label to which something might jump. The code between
# the labels of a unit moves as a whole, and the words with the labels are its two ends.
# run: lift
# run: rewrite
# link: -e f --build-id
# fragment: camlM__g 0
# fragment: camlM__f 0 1
# fragment: f 0 1
        .text
        .globl  f, camlM__f, camlM__g
        .type   f,@function
f:      call    camlM__f
        ret
        .size   f,.-f
        .p2align 4
        .globl  camlM__code_begin
camlM__code_begin:
        .type   camlM__f,@function
camlM__f:
        call    camlM__g
.Lreturn:
        ret
        .size   camlM__f,.-camlM__f
        .type   camlM__g,@function
camlM__g:
        ret
        .size   camlM__g,.-camlM__g
        .globl  camlM__code_end
camlM__code_end:
        .data
        .balign 8
        .globl  caml_code_segments, camlM__frametable
camlM__frametable:
        .quad   1
        .quad   .Lreturn
        .word   16, 0
        .balign 8
caml_code_segments:
        .quad   camlM__code_begin, camlM__code_end, 0
