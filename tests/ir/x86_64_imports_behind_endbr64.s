# Stubs in .plt.sec start with endbr64: their pointer is found as well.
# run: imports
# link: -shared -z ibtplt
# count: f 0: 10
        .text
        .globl  f
        .type   f,@function
f:      call    strlen@PLT
        ret
        .size   f,.-f
