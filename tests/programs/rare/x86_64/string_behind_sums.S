/* Callees that reach their return address by sums of the stack pointer, by a frame pointer, and on
   the taken side of a conditional jump, and read the strings behind their calls. */
#include "local.inc"

        .globl  tested
        .type   tested,@function
tested: push    %rbx
        mov     %edi,%ebx
        xor     %eax,%eax
        call    sums
        call    frames
        call    conditions
        call    entries
        lea     (%rbx,%rax),%edi
        pop     %rbx
        call    local
        ret
        .size   tested,.-tested

        .type   sums,@function
sums:   call    by_sum
        .asciz  "1"
        add     $1,%eax
        ret
        .size   sums,.-sums
        .type   frames,@function
frames: call    by_frame
        .asciz  "1"
        add     $2,%eax
        ret
        .size   frames,.-frames
        .type   conditions,@function
conditions:
        mov     $1,%ecx
        call    if_wanted
        .asciz  "1"
        add     $3,%eax
        ret
        .size   conditions,.-conditions
        .type   entries,@function
entries:
        call    inner
        .asciz  "PXtru"
        add     $4,%eax
        ret
        .type   inner,@function         /* an entry in the middle of a procedure */
inner:  pop     %rsi
1:      movzbl  (%rsi),%ecx
        inc     %rsi
        add     %ecx,%eax
        test    %cl,%cl
        jnz     1b
        push    %rsi
        ret
        .size   inner,.-inner
        .size   entries,.-entries

        .type   by_sum,@function
by_sum: sub     $8,%rsp
        mov     8(%rsp),%rsi
1:      movzbl  (%rsi),%ecx
        inc     %rsi
        add     %ecx,%eax
        test    %cl,%cl
        jnz     1b
        mov     %rsi,8(%rsp)
        add     $8,%rsp
        ret
        .size   by_sum,.-by_sum

        .type   by_frame,@function
by_frame:
        push    %rbp
        mov     %rsp,%rbp
        push    %rbx
        mov     8(%rbp),%rsi
1:      movzbl  (%rsi),%ecx
        inc     %rsi
        add     %ecx,%eax
        test    %cl,%cl
        jnz     1b
        mov     %rsi,8(%rbp)
        pop     %rbx
        leave
        ret
        .size   by_frame,.-by_frame

        .type   if_wanted,@function
if_wanted:
        test    %ecx,%ecx
        jnz     2f
        ret
2:      pop     %rsi
1:      movzbl  (%rsi),%ecx
        inc     %rsi
        add     %ecx,%eax
        test    %cl,%cl
        jnz     1b
        push    %rsi
        ret
        .size   if_wanted,.-if_wanted
        .section .note.GNU-stack,"",@progbits
