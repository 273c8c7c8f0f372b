# An address of code in an instruction, which only the dynamic linker fills (-z notext, lld).
        .globl formed
        .type formed,@function
formed: movabs  $main,%rax
        ret
        .size formed,.-formed
        .section .note.GNU-stack,"",@progbits
