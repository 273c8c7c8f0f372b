# The linkage table of a library: linker-made code without relocations, which is left alone. A call
# of an import leads to its address there; so does one of the library's own g, which another image
# may replace. f calls the local h itself.
# run: lift
# link: -shared
        .text
        .globl  f
        .type   f,@function
f:      call    strlen@PLT
        call    g@PLT
        call    h
        ret
        .size   f,.-f
        .globl  g, h
        .hidden h
        .type   g,@function
g:      ret
        .size   g,.-g
        .type   h,@function
h:      ret
        .size   h,.-h
