/* After skipped data an address is formed that has no relocation. */
#include "local.inc"

        .globl  tested
        .type   tested,@function
tested: jmp     1f
        .byte   0x48,0xb8               /* would be an instruction of 10 bytes */
1:      lea     local(%rip),%rax
        nop
        sub     $8,%rsp
        call    *%rax
        add     $8,%rsp
        ret
        .size   tested,.-tested
        .section .note.GNU-stack,"",@progbits
