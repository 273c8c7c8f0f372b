# A linker script keeps the rarely used code in a section of its own, of a usual name: both sections
# have room for any code, in the order of their addresses. g, of the rare section, comes to .text; f
# and its part keep their alignment of 16, for which one place is left.
# run: place
# run: rewrite
# link: -e f -T script.ld --build-id
# fragment: g 0 1
# fragment: f 2
# fragment: f 0 1
        .text
        .globl  f
        .type   f,@function
f:      test    %edi,%edi
        je      f.cold
        ret
        .size   f,.-f
        .section .text.unlikely,"ax"
        .type   f.cold,@function
f.cold: mov     $1,%eax
        ret
        .size   f.cold,.-f.cold
        .globl  g
        .type   g,@function
g:      call    f
        ret
        .size   g,.-g
# file: script.ld
SECTIONS
{
  . = 0x10000 + SIZEOF_HEADERS;
  .note : { *(.note*) }
  . = 0x11000;
  .text : { *(.text) . = ALIGN(16); }
  .text.unlikely : { *(.text.unlikely) . = ALIGN(16); }
}
