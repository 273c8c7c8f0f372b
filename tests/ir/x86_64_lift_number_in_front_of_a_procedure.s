# clang -fsanitize=kcfi puts a number in front of each procedure, which callers compare: __cfi_f and
# f, into which it runs, stay together.
# run: lift
        .text
        .globl  f
        .type   __cfi_f,@function
__cfi_f:
        nop
        mov     $0x12345678,%eax
        .size   __cfi_f,.-__cfi_f
        .type   f,@function
f:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      cmpl    $0x12345678,-4(%rdi)
        je      1f
        ud2
1:      call    f
        ret
        .size   g,.-g
