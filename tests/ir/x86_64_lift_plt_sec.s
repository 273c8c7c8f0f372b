# With -z ibtplt the stubs that code calls are in .plt.sec, behind endbr64. The call keeps the
# address of its stub.
# run: lift
# link: -shared -z ibtplt
        .text
        .globl  f
        .type   f,@function
f:      endbr64
        call    strlen@PLT
        ret
        .size   f,.-f
