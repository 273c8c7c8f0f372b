# By the counts the jump is always taken: the hot path becomes straight, and what did not run
# is split off.
# run: layout ext-tsp,split
# run: layout original
# count: f 0: 100, 100 to 2
# count: f 2: 100
        .text
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        jne     1f
        mov     $1,%eax
1:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
