# g never returns, so nothing follows the call of g in f: what stands there is reached by the branch
# alone. h has no unwind information and may drop its own return address, so the call of h counts as
# one that may return.
# run: lift
        .text
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      1f
        call    g
1:      ret
        .size   f,.-f
        .globl  g
        .type   g,@function
g:      .cfi_startproc
        ud2
        .cfi_endproc
        .size   g,.-g
        .globl  h
        .type   h,@function
h:      call    i
        ud2
        .size   h,.-h
        .globl  i
        .type   i,@function
i:      ret
        .size   i,.-i
