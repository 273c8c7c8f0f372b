# Two paths end in one epilogue. The path that comes more often keeps it, the other gets a copy in
# the place of its jump; what is copied is the way to the return, and the counts are shared out.
# run: tails
# run: rewrite after=tails
# link: -e f --build-id
# count: f 0: 100, 40 to 1, 60 to 2
# count: f 1: 40
# count: f 2: 60
# count: f 3: 100
# fragment: f 0 1 4 2 3
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      1f
        mov     $1,%eax
        jmp     2f
1:      mov     $2,%eax
2:      add     $8,%eax
        ret
        .size   f,.-f
