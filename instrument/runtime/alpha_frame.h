/* Shared by the entries of the start code for Alpha: saving and loading registers in the frame.

   Example: in_frame stq, 0,1,2 stores v0, t0 and t1 at 0, 8 and 16 from sp. */

        .macro  in_frame what, registers:vararg
        place = 0
        .irp    r, \registers
        \what   $\r, place($30)
        place = place+8
        .endr
        .endm
