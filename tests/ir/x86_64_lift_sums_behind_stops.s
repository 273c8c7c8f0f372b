# Compilers put unrelated code behind the stop of a call that does not return: the add there does
# not add to the address of g that r12 held in front of the stop, and g may move.
# run: lift
        .text
        .reloc  f,R_X86_64_NONE
        .globl  f
        .type   f,@function
f:      lea     g(%rip),%r12
        call    *%rax
        ud2
        add     %r12,%rax
        ret
        .size   f,.-f
        .type   g,@function
g:      ret
        .size   g,.-g
