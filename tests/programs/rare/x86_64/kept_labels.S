/* Places inside procedures whose addresses are kept, for code other than the jumps of the procedures:
   data that the procedure reads through a pointer, and a sequence whose borders and abort address
   the kernel would read, with a signature in front of the abort address. */
        .text
        .globl  tested
        .type   tested,@function
tested: push    %rbx
        mov     %edi,%ebx
        and     $7,%edi
        call    read_data
        add     %eax,%ebx
        call    sequence
        add     %eax,%ebx
        mov     abort(%rip),%rdx
        add     -4(%rdx),%ebx
        mov     length(%rip),%rax
        mov     start(%rip),%rdx
        add     -1(%rdx,%rax),%bl
        mov     %ebx,%eax
        pop     %rbx
        ret
        .size   tested,.-tested

        .type   read_data,@function
read_data:
        mov     pointer(%rip),%rdx
        movzbl  (%rdx,%rdi),%eax
        cmp     $1000,%rdi
        jb      1f
        mov     callee(%rip),%rax
        jmp     *%rax
1:      ret
data:   .byte   0xeb,0x06,0x74,0x04,0x0f,0x1f,0x00,0xc3,0xc3,0xc3
        .size   read_data,.-read_data

        .type   sequence,@function
sequence:
        mov     callee(%rip),%rax
        xor     %ecx,%ecx
1:      inc     %ecx
        test    %edi,%edi
        jz      3f
        inc     %ecx
3:      inc     %ecx
2:      jmp     5f
        .byte   0x0f,0xb9,0x3d
        .long   0x53053053
4:      mov     $-1,%ecx
5:      mov     %ecx,%edi
        jmp     *%rax
        .size   sequence,.-sequence

        .type   twice,@function
twice:  lea     (%rdi,%rdi),%eax
        ret
        .size   twice,.-twice

        .data
pointer: .quad  data
callee: .quad   twice
start:  .quad   1b
length: .quad   2b-1b
abort:  .quad   4b
        .section .note.GNU-stack,"",@progbits
