# g, an entry of a table of jumps, stays. Others fill the room in front and behind, and what does
# not fit there goes to the added segment.
# run: place
# fragment: h 0 1
# fragment: f 0 1
        .text
        .globl  f, h
        .type   f,@function
f:      call    h
        ret
        .size   f,.-f
        .p2align 4
        .type   g,@function
g:      jmp.d32 f
        int3
        int3
        int3
        .size   g,.-g
        .p2align 4
        .type   h,@function
h:      call    f
        mov     $1,%eax
        mov     $2,%edx
        mov     $3,%ecx
        mov     $4,%esi
        ret
        .size   h,.-h
