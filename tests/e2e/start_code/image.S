/* The additions of an instrumenter to an image: the start code with its parameters, and counters. Linked
   into the hosts and libraries of start_code_test.py with MACHINE (a file's name: alpha.S,
   x86_64.S), PROGRAM (enter at `program`) or LIBRARY (`initializer`), START_CODE (a file's name),
   COUNTERS_SIZE, NEXT (a symbol) or NEXT_IS_NONE, and perhaps FILES_LIMIT.

   The machine's `program` gives all registers known values and enters the start code; when that
   goes on at `checked`, the machine writes down what is in them; then the real entry point gets
   what the system gave. Both entries count 7 in the second counter before anything else. */

        .section .respike.start,"ax",@progbits
        .balign 16
start_code:
        .incbin START_CODE
parameters:
        .quad   counters - .
#if NEXT_IS_NONE
        .quad   0
#else
        .quad   NEXT - . + 8
#endif
        .quad   COUNTERS_SIZE
        .long   0, 0
prefix: .ascii  "@PREFIX@"              /* found and replaced in the linked file */
        .zero   4096 - 8
        .asciz  "RSPKCNT"
        .long   1, 8192
        .quad   COUNTERS_SIZE
        .byte   1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
        .quad   0, 0, 0
        .long   1, 0
path:   .asciz  "/original/image"
        .zero   4096 - (. - path)

        .bss
        .globl  counters, last_counter
        .hidden counters, last_counter
        .balign 65536
counters:
        .zero   COUNTERS_SIZE - 8
last_counter:
        .zero   8

#include MACHINE

        .section .note.GNU-stack,"",@progbits
