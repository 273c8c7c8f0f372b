# Hand-written code names its procedures by symbols without a type. f calls helper, so that is code
# and a procedure; what follows at `unused` is called by nothing, and may be data.
# run: lift
        .text
        .globl  f, helper
        .type   f,@function
f:      call    helper
        ret
        .size   f,.-f
helper: xor     %eax,%eax
        ret
        .globl  unused
unused: xor     %edx,%edx
        ret
