# In a program the linker replaces the sequences for thread-local variables, of one variable and of
# all of a module, by a load of the thread's pointer. The relocation of their calls remains, at
# numbers of what stands there now, and means nothing.
# run: lift
# link: -e f --unresolved-symbols=ignore-all
        .text
        .globl  f
        .type   f,@function
f:      push    %rbx
        data16  lea x@TLSGD(%rip),%rdi
        .value  0x6666
        rex64   call __tls_get_addr@PLT
        lea     x@TLSLD(%rip),%rdi
        call    __tls_get_addr@PLT
        lea     x@DTPOFF(%rax),%rax
        mov     x@GOTTPOFF(%rip),%rcx
        mov     %fs:x@TPOFF,%ecx
        pop     %rbx
        ret
        .size   f,.-f
        .section .tdata,"awT"
        .globl  x
x:      .long   1
