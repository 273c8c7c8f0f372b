# The distance of an operand counts from behind the instruction, though a number of one or four
# bytes stands between; the number may be an address, too. All are right in any place.
# run: lift
# run: rewrite
# link: -e f --build-id
# fragment: g 0 1
# fragment: f 0
        .text
        .globl  f
        .type   f,@function
f:      movl    $5,x(%rip)
        cmpb    $1,x(%rip)
        movq    $g,x(%rip)
        movaps  x(%rip),%xmm0
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
        .data
        .balign 16
x:      .quad   g
        .quad   f
