# Programs keep numbers in the low bits of addresses, as pointers to member functions of C++ do:
# each entry keeps the alignment that it has in the input, up to 16, also the entry inside of h.
# run: place
# fragment: k 0 1
# fragment: j 0
# fragment: i 0
# fragment: h 0 1
# fragment: f 0
        .text
        .globl  f, h, i, j, k, inside
        .type   f,@function
f:      ret
        .size   f,.-f
        .p2align 4
        .type   h,@function
h:      movl    $1,(%rax,%rax)
        push    %rax
        .type   inside,@function
inside: ret
        .size   h,.-h
        .p2align 3
        .type   i,@function
i:      ret
        .size   i,.-i
        .p2align 1
        .type   j,@function
j:      ret
        .size   j,.-j
        .type   k,@function
k:      call    f
        ret
        .size   k,.-k
