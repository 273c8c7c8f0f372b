/* Landing pads that load gp from their own address, and other ways into these pads. In `entered`
   another pad runs into the pad, with a wrong address; in `padded` two calls that throw seem to
   return to padding in front of the pad. build: -O2 build: -O2 -Wl,--no-relax expect: entered: it
   may compute gp from the address of another landing pad rewritten: padded */
#include <cstdio>
#include <stdexcept>
extern "C" {
long may_throw(long v) {
  if (v > 100) throw std::runtime_error("large");
  return v / 3;
}
[[noreturn]] void throws(long v) {
  throw v;
}
long entered(long v);
long padded(long v);
}
#define HEAD(name, n)                                                                             \
  ".align 4\n.globl " name "\n.ent " name "\n" name                                               \
  ":\n.frame $30,16,$26,0\n.mask 0x4000200,-16\n"                                                 \
  ".cfi_startproc\n.cfi_personality 0x9b,DW.ref.__gxx_personality_v0\n.cfi_lsda 0x1b,$lsda_" name \
  "\n"                                                                                            \
  "ldah $29,0($27) !gpdisp!" n "\nlda $29,0($29) !gpdisp!" n                                      \
  "\n"                                                                                            \
  "lda $30,-16($30)\n.cfi_def_cfa_offset 16\nstq $26,0($30)\n.cfi_offset 26,-16\nstq "            \
  "$9,8($30)\n.cfi_offset 9,-8\n.prologue 1\n"
#define TAIL(name)                                                                            \
  "ldq $26,0($30)\nldq $9,8($30)\n.cfi_remember_state\n.cfi_restore 9\n.cfi_restore 26\nlda " \
  "$30,16($30)\n"                                                                             \
  ".cfi_def_cfa_offset 0\nret $31,($26),1\n.cfi_restore_state\n"
#define CALL(name, n) \
  "ldq $27," name "($29) !literal!" n "\njsr $26,($27)," name " !lituse_jsr!" n "\n"
#define RELOAD(n) "ldah $29,0($26) !gpdisp!" n "\nlda $29,0($29) !gpdisp!" n "\n"
asm(".set noreorder\n.set volatile\n.set noat\n.set nomacro\n.text\n"
    // Two calls, two pads; the first pad runs into the second.
    HEAD("entered", "1001")
    "$e1:\n" CALL("may_throw", "1002") "$e2:\n" RELOAD("1003") "mov $0,$16\n"
    "$e3:\n" CALL("may_throw", "1004") "$e4:\n" RELOAD("1005")
    TAIL("entered")
    "$e5: addq $16,0,$16\n"
    "$e6:\n" RELOAD("1006") CALL("_Unwind_Resume", "1007") "ldq_u $31,0($30)\n.cfi_endproc\n.end entered\n"
    // The pad follows padding, into which two calls run.
    HEAD("padded", "2001")
    "mov $16,$9\n$p1:\n" CALL("may_throw", "2002") "$p2:\n" RELOAD("2003") "mov $9,$16\nblt $0,$p4\nbne $0,$p3\n"
    TAIL("padded")
    "$p3: lda $16,1($16)\n$p9:\n" CALL("throws", "2004") "$p10: br $31,$p5\n"
    "$p4:\n" CALL("throws", "2005") "$p5: ldq_u $31,0($30)\nbis $31,$31,$31\n"
    "$p6:\n" RELOAD("2006") CALL("__cxa_begin_catch", "2007") RELOAD("2008") "ldq $9,0($0)\n"
    CALL("__cxa_end_catch", "2009") RELOAD("2010") "mov $9,$0\n"
    TAIL("padded") ".cfi_endproc\n.end padded\n"
    ".section .gcc_except_table,\"a\",@progbits\n.align 2\n"
    "$lsda_entered: .byte 0xff,0xff,1\n.uleb128 $l2-$l1\n$l1:\n"
    ".uleb128 $e1-entered,$e2-$e1,$e5-entered,0,$e3-entered,$e4-$e3,$e6-entered,0\n"
    ".uleb128 $e6-entered,padded-$e6,0,0\n$l2:\n.align 2\n"
    "$lsda_padded: .byte 0xff,0x9b\n.uleb128 $l6-$l5\n$l5: .byte 1\n.uleb128 $l4-$l3\n$l3:\n"
    ".uleb128 $p1-padded,$p2-$p1,0,0,$p9-padded,$p10-$p9,$p6-padded,1,$p4-padded,$p5-$p4,$p6-padded,1\n"
    ".uleb128 $p6-padded,8,0,0\n$l4: .byte 1,0\n.align 2\n.long 0\n$l6:\n.text\n");
int main() {
  long sum = 0;
  for (long i = -20; i < 20; i++) sum = sum * 31 + entered(i) + 7 * padded(i);
  std::printf("%ld\n", sum);
  return sum & 31;
}
