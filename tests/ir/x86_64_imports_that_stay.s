# A call with prefixes, as the sequence for thread-local variables has, stays: linkers know it by
# its bytes. So does a call that does not return: f has unwind information, and ends with it.
# run: imports
# link: -shared
# count: f 0: 10
# count: f 1: 10
        .text
        .globl  f
        .type   f,@function
f:      .cfi_startproc
        data16  lea x@TLSGD(%rip),%rdi
        .value  0x6666
        rex64   call __tls_get_addr@PLT
        call    abort@PLT
        .cfi_endproc
        .size   f,.-f
        .section .tdata,"awT"
        .globl  x
x:      .long   1
