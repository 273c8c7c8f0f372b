#pragma once
// The expanded instruction table, and bundles to instructions and back.
//
// A bundle is always three instructions, one per slot. An Instruction holds:
//   opcode        an Op, one per row of rows.def
//   predicate     the qualifying predicate (0 where the format has none)
//   flags kStop: a stop after this slot; the unit of the slot (unit(), set_unit()) registers[n] the
//   fields a, b, c, d of the row's picture: register numbers as the instruction
//                 names them (r32 is the first stacked register, whatever rotation makes of r32),
//                 completers and small numbers
//   immediate     the number that the assembler writes, sign-extended; branch targets are bytes
//                 relative to the bundle. Of numbers longer than 32 bits (movl, brl, break.x,
//                 nop.x, hint.x) the low half; the high half is the immediate of the instruction
//                 in the L slot before. mov pr.rot=imm44 holds the number divided by 2^16.
//                 Floating-point instructions hold their status field (0 to 3) here, except fchkf,
//                 which holds its status field in registers[3].
//   origin        place of the bundle plus the number of the slot, 0 to 2
// Fields that a row lacks are 0. Bits that the processor ignores and objdump does not print are
// kept where the row has room: in `immediate`, else in unused register fields, else in the flags.
//
// Op::invalid holds a slot that is no instruction, in a bundle of any template: bits 31:0 in
// `immediate`, the other bits in registers[0] and [1]; registers[2] of slot 0 is the template where
// it is reserved (unit none). Encoding a decoded bundle always gives the same bundle.
//
// Example: adds r14=8,r15 has the registers 14, 0, 15, 0 and the immediate 8.

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "optimizer/ir/program.h"
#include "optimizer/machine/ia64/encoding.h"

namespace respike::ia64 {

/// Values of Instruction::opcode.
enum class Op : uint16_t {
  invalid = kInvalid,
  cfi_state = kCfiState,
  long_half = kFirstMachineOpcode,  // the L slot of a bundle with an X slot
#define ROW(enumerator, format, name, picture, syntax) enumerator,
#include "optimizer/machine/ia64/rows.def"
#undef ROW
};

constexpr Op op_of(const Instruction& instruction) {
  return static_cast<Op>(instruction.opcode);
}
constexpr uint16_t opcode(Op op) {
  return static_cast<uint16_t>(op);
}

inline constexpr size_t kOpCount = kRowCount + 3;
inline constexpr size_t kFirstRow = 3;  // the Op of the first row

consteval std::array<Encoding, kOpCount> make_encodings() {
  std::array<Encoding, kOpCount> encodings;
  for (size_t i = 0; i < kRowCount; ++i) encodings[kFirstRow + i] = make_encoding(kRows[i]);
  return encodings;
}

/// By Op.
inline constexpr std::array<Encoding, kOpCount> kEncodings = make_encodings();

constexpr const Encoding& encoding_of(const Instruction& instruction) {
  return kEncodings[instruction.opcode];
}

/// Execution units that a slot of a template names. `none`: slots of a reserved template.
enum class Unit : uint8_t { none, m, i, f, b, l, x };

// Bits of Instruction::flags besides those of program.h.
inline constexpr unsigned kSpareShift = 1;  // where ignored bits are kept in the flags
inline constexpr uint8_t kStop = 0x80;
inline constexpr unsigned kUnitShift = 4;
inline constexpr uint8_t kUnitMask = 7u << kUnitShift;

constexpr bool has_stop(const Instruction& instruction) {
  return (instruction.flags & kStop) != 0;
}
constexpr void set_stop(Instruction& instruction, bool stop) {
  instruction.flags = static_cast<uint8_t>((instruction.flags & ~kStop) | (stop ? kStop : 0));
}
constexpr Unit unit(const Instruction& instruction) {
  return static_cast<Unit>((instruction.flags & kUnitMask) >> kUnitShift);
}
constexpr void set_unit(Instruction& instruction, Unit unit) {
  instruction.flags = static_cast<uint8_t>((instruction.flags & ~kUnitMask) |
                                           static_cast<unsigned>(unit) << kUnitShift);
}

/// Whether a slot of the unit can hold an instruction with this Op; type A fits M and I.
constexpr bool fits_unit(Op op, Unit unit) {
  switch (kEncodings[opcode(op)].type()) {
    case 'A':
      return unit == Unit::m || unit == Unit::i;
    case 'M':
      return unit == Unit::m;
    case 'I':
      return unit == Unit::i;
    case 'F':
      return unit == Unit::f;
    case 'B':
      return unit == Unit::b;
    case 'X':
      return unit == Unit::x;
    default:
      return op == Op::invalid || (op == Op::long_half && unit == Unit::l);
  }
}

struct Template {
  std::string_view name;  // "MII" as objdump writes it; "-3-" of a reserved template
  Unit units[3] = {};
  bool stops[3] = {};
};

/// By the five template bits. Manual, volume 3, table 4-3.
extern const std::array<Template, 32> kTemplates;

/// The template with these units and stops, if there is one.
std::optional<unsigned> find_template(const Unit (&units)[3], const bool (&stops)[3]);

inline constexpr size_t kBundleSize = 16;

/// Decodes one bundle, or `count` bundles. `origin`: the place of the first bundle.
void decode_bundle(const uint8_t* bundle, uint32_t origin, Instruction* out);
void decode_bundles(const uint8_t* code, size_t count, uint32_t origin, Instruction* out);

/// The inverse of decode_bundle(): three instructions into a bundle. False, with nothing written,
/// when no template has the instructions' units and stops, or an instruction does not fit its unit.
/// Immediates that do not fit their field lose their high bits.
bool encode_bundle(const Instruction* instructions, uint8_t* out);

/// The full contents of a slot, for code that executes instructions.
struct Slot {
  Op op = Op::invalid;
  uint8_t predicate = 0;
  Unit unit = Unit::none;
  bool stop = false;
  uint8_t a = 0, b = 0, c = 0, d = 0;  // fields of the row
  int64_t immediate = 0;               // all 64 bits; mov pr.rot's times 2^16
};

/// `high`: the instruction of the L slot; matters only when `instruction` is of type X.
Slot expand(const Instruction& instruction, const Instruction& high);

/// The value of a completer that the name of the instruction's row holds.
constexpr unsigned completer_value(const Instruction& instruction, const Completer& completer) {
  const auto field = [&](unsigned number) -> unsigned {
    return number == kImmediateField ? static_cast<unsigned>(instruction.immediate)
                                     : instruction.registers[number];
  };
  const unsigned low = field(completer.field) >> completer.shift & ((1u << completer.width) - 1);
  if (completer.high_field < 0) return low;
  return low | (field(static_cast<unsigned>(completer.high_field)) & 1) << completer.width;
}

}  // namespace respike::ia64
