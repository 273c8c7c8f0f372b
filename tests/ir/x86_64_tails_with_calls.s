# A tail with a call is not copied: the jump costs little beside the call.
# run: tails
# count: f 0: 100, 40 to 1, 60 to 2
# count: f 1: 40
# count: f 2: 60
# count: f 3: 100
# count: f 4: 100
        .text
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      1f
        mov     $1,%eax
        jmp     2f
1:      mov     $2,%eax
2:      call    f
        ret
        .size   f,.-f
