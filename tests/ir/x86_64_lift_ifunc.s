# An indirect function of a static program: callers go through a stub of the linker's, and the
# address of the resolver is in a dynamic relocation, which is a pointer to the resolver.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      call    g
        ret
        .size   f,.-f
        .globl  g
        .type   g,@gnu_indirect_function
g:      lea     h(%rip),%rax
        ret
        .size   g,.-g
        .type   h,@function
h:      ret
        .size   h,.-h
