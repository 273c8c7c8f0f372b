#pragma once
// The language of the instruction tables (rows_*.h), and the expansion of rows.
//
// A row describes an instruction as the opcode maps of Intel's manual do (Software Developer's
// Manual, volume 2, appendix A): name, place in the maps, operands, effects.
//
// `code` is "[SPACE ][MAP/]OPCODES TOKEN...".
//   SPACE    letters L, V, E: the row stands for legacy, VEX and EVEX encodings; absent: L
//   MAP      0f, 38 (0F 38), 3a (0F 3A), m5, m6 (EVEX only); absent: one-byte opcodes
//   OPCODES  hexadecimal, a list of numbers and ranges: "90", "00,28", "70-7f"
//   np 66 f3 f2 nf  the mandatory prefix; nf: neither f3 nor f2; absent: any
//   /024     allowed values of ModRM.reg     mem, reg   ModRM.rm is memory, a register
//   rm0      allowed values of ModRM.rm      b0, b1     REX.B, of opcodes without ModRM
//   w0 w1    value of W     ew0 ew1  in EVEX alone
//   l0 l1 l12 l2  vector lengths: 128, 256, 512 bits; absent: all that the space has
//   d64      64-bit operands unless 66 makes them 16-bit; f64: always 64-bit
//   lock rep the prefixes that the instruction accepts (rep: f3 or f2 repeats the instruction)
//   mmx      adds the MMX encoding: no prefix, operands V, H, W become P, -, Q
//   fp2      expands to the prefixes np 66, the name's suffixes ps pd; in EVEX with W 0 1
//   fps      f3 f2, ss sd; W 0 1     fp4: both
//   er sae   EVEX.b with registers: rounding, exceptions suppressed
//   nk mk    EVEX.aaa must be 0, must not be 0
//   n8       EVEX: displacements of one byte count in units of 8 bytes; absent: in the size of the
//            memory operand
//   vsib     the index is a vector register
//   select   EVEX.aaa selects between operands, and no element of the destination is kept
//   ne       the destination, the index and other vector registers must differ from each other
//
// `operands` are separated by commas: mark, method, type. Marks: none the instruction reads the
// operand; `=` writes; `+` does both; `?` may write or keep the operand; `~`: the same, and reads;
// `!` only names the operand.
// Methods are the manual's (A.2.1):
//   E G B Z  general register: r/m (or memory), reg, vvvv, low bits of the opcode
//   R M      E as register only, as memory only
//   V H W L  vector register: reg, vvvv, r/m (or memory), upper bits of an immediate; U W without M
//   P Q N    MMX register: reg, r/m (or memory), r/m as register only
//   K J T    mask register: reg, vvvv, r/m (or memory)
//   S C D    segment, control, debug register
//   X Y O    memory at rsi, at rdi, at an address of 8 bytes in the instruction
//   I A      immediate, direct target of a branch
// and rax ... r15, ah, xmm0 followed by a colon and the type; memory at a register that the row
// names is @rdi or @rbx (plus al). Types are sizes in bytes:
//   b w d q o t  1 2 4 8 16 10     Q  32     n  0: address only     c  far address
//   k s  14 28, 94 108: what x87 saves
//   v z y    2 4 8 by operand size; the same but 4 for 8; 4 8 by W
//   x h f e  the vector length, a half, a quarter, an eighth     p  x, or the element of fps
// `*` after the type: EVEX.b repeats one element of memory, of 8 bytes with W, else of 4; *2 of 2.
// A legacy encoding has no vvvv: H is left out, and the destination is also read.
//
// `effects`: "<" flags read, ">" written, "?" left undefined: o s z a p c d, or cc for the flags of
// the condition in the opcode. kf: the flags may be kept (a shift by 0). push, pop: a value of the
// operand size on the stack; leave: rsp = rbp, then pop. zero: writes all vector registers (for
// vzeroupper the upper parts). x87: reads and writes the state of x87. Flow: branch, jump, call,
// ret, stop, system. `any`: the effects are not described; assume everything. sees: other code that
// gets control meanwhile, such as the kernel, a debugger or a handler, may read all registers;
// registers that the row does not name keep their values.
//
// Example: {"addps", "LVE 0f/58 fp4 er", "=Vp,Hp,Wp*"} expands to 12 encodings, addps, addpd, addss
// and addsd in three spaces. Legacy addps reads and writes ModRM.reg, and reads 16 bytes.

#include <cstdint>
#include <string_view>

namespace respike::x86_64 {

struct Row {
  std::string_view name;
  std::string_view code;
  std::string_view operands = {};
  std::string_view effects = {};
};

enum class Space : uint8_t { legacy, vex, evex };
enum class Map : uint8_t { primary, m0f, m0f38, m0f3a, m5, m6 };
inline constexpr unsigned kMaps = 6;

enum Access : uint8_t { kNoAccess = 0, kRead = 1, kWrite = 2, kMayKeep = 4 };

/// Status flags that programs compute with; bits of a set. The other flags belong to the system.
enum Flag : uint8_t {
  kCarry = 1,
  kParity = 2,
  kAdjust = 4,
  kZero = 8,
  kSign = 16,
  kOverflow = 32,
  kDirection = 64,
};

enum class Flow : uint8_t { none, branch, jump, call, ret, stop, system };

struct OperandForm {
  char method = 0;
  char type = 0;
  uint8_t access = kRead;
  uint8_t number = 0;     // of a register named by the row
  uint8_t broadcast = 0;  // 0 never, 1 by W, else the element's size
};

/// The expansion of a row: one name in one space with one mandatory prefix.
struct Form {
  std::string_view name;
  Space space = Space::legacy;
  uint8_t operand_count = 0;
  OperandForm operands[7];
  uint8_t reads = 0, writes = 0, undefined = 0;  // flags
  Flow flow = Flow::none;
  uint8_t immediate[3] = {};  // bytes, by operand size 16, 32, 64
  uint8_t compression = 0;    // of n8; 0: the size of the memory operand
  uint8_t element = 0;        // of scalar forms: bytes; 0: vectors
  bool memory_offset = false;
  bool condition = false;  // reads the flags of the condition in the opcode
  bool keeps_flags = false;
  bool lockable = false;
  bool repeats = false;
  bool default64 = false;
  bool fixed64 = false;
  bool rounds = false;  // er or sae
  bool masked = false;  // EVEX: aaa may be used
  bool needs_mask = false;
  bool vector_index = false;
  bool selects = false;        // select
  bool distinct = false;       // ne
  bool register_only = false;  // ModRM.rm is a register whatever ModRM.mod says
  bool push = false;
  bool pop = false;
  bool x87 = false;
  bool sees = false;
  bool leave = false;
  bool zeroes = false;
  bool any = false;
  bool uses_vvvv = false;
};

}  // namespace respike::x86_64
