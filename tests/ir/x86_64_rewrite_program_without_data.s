# A program whose section of data is empty, at a place in the file behind all contents. In the order
# of the input nothing is added to the file, which ends behind that place all the same: readers
# refuse sections beyond the end of the file.
# run: rewrite original
        .text
        .globl  f
        .type   f,@function
f:      call    f
        ret
        .size   f,.-f
