# etext is where the text ends, not the procedure that some layout puts there: the word and the lea
# stay as they are, and f and g may move.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      lea     etext(%rip),%rax
        call    g
        ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      ret
        .size   g,.-g
        .data
        .quad   etext
