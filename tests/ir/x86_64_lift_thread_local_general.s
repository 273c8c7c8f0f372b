# The sequence for a thread-local variable of any image: the prefixes in front of the call belong to
# it, so that the dynamic linker's or a linker's own edits find the bytes that they expect.
# run: lift
# link: -shared
        .text
        .globl  f
        .type   f,@function
f:      push    %rbx
        data16  lea x@TLSGD(%rip),%rdi
        .value  0x6666
        rex64   call __tls_get_addr@PLT
        mov     (%rax),%eax
        pop     %rbx
        ret
        .size   f,.-f
        .section .tdata,"awT"
        .globl  x
x:      .long   1
