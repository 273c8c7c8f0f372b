/* Numbers in front of procedures, which callers compare (clang's -fsanitize=kcfi and =function). */
#include "local.inc"

        .p2align 4
        .type   __cfi_typed,@function
__cfi_typed:
        .rept   11
        nop
        .endr
        movl    $12345,%eax
        .size   __cfi_typed,.-__cfi_typed
        .globl  typed
        .type   typed,@function
typed:  lea     1(%rdi),%eax
        ret
        .size   typed,.-typed

        .p2align 4
        .long   0xc105cafe, 777
        .globl  signed
        .type   signed,@function
signed: lea     2(%rdi),%eax
        ret
        .size   signed,.-signed

        .globl  tested
        .type   tested,@function
tested: mov     pointers(%rip),%r11
        movl    $-12345,%r10d
        addl    -4(%r11),%r10d
        je      1f
        ud2
1:      call    *%r11
        mov     %eax,%edi
        mov     8+pointers(%rip),%r11
        cmpl    $0xc105cafe,-8(%r11)
        je      1f
        ud2
1:      call    *%r11
        mov     %eax,%edi
        call    local
        ret
        .size   tested,.-tested
        .data
pointers:
        .quad   typed, signed
        .section .note.GNU-stack,"",@progbits
