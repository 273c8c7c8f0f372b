// Which Alpha instructions only compute, and how other registers are put into their fields.
//
// Pure instructions are integer arithmetic without /v, lda and ldah, and copies of floating-point
// values (cpys, cpysn, cpyse, itoft, ftoit). Other floating-point instructions do not count as
// pure, since most may trap or read the control register. An operand's register is in the field
// that the row names (rows.h), so writing this field replaces the register; a conditional move
// reads and writes the same field. Branches compare a register with zero or test its lowest bit, so
// the value's sign and lowest bit decide all branches.
//
// Example: addq t0,t1,t2 is pure and may write t8 instead: addq t0,t1,t8. In cmoveq t0,t1,t2 the
// result alone cannot be renamed.
//
// Source: Alpha Architecture Handbook, version 4, chapter 4; Tru64 UNIX Calling Standard.

#include "optimizer/machine/alpha/rewrite_facts.h"

#include <array>

#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/alpha/meaning.h"

namespace respike {

using namespace alpha;

namespace {

/// Temporaries and arguments, except a0; not v0, which holds a result, nor ra, pv, at and gp. The
/// temporaries that compilers allocate last come first.
constexpr std::array<Register, 17> kReplacements = {8, 7, 6,   5,   kT11, kT10, kT9, kT8, 4,
                                                    3, 2, kT0, kA5, kA4,  kA3,  kA2, kA1};

class AlphaRewriteFacts final : public RewriteFacts {
 public:
  bool is_pure(const Instruction& instruction) const override {
    if (instruction.opcode < kFirstMachineOpcode) return false;
    const Encoding& encoding = encoding_of(instruction);
    switch (encoding.format) {
      case Format::memory:
        return instruction.opcode == opcode("lda") || instruction.opcode == opcode("ldah");
      case Format::operate:
      case Format::literal:
        return !encoding.qualified;
      case Format::floating:
        for (const uint16_t op :
             {opcode("cpys"), opcode("cpysn"), opcode("cpyse"), opcode("itoft"), opcode("ftoit")})
          if (instruction.opcode == op) return true;
        return false;
      default:
        return false;
    }
  }

  uint8_t zero_fields(const Instruction& instruction) const override {
    uint8_t fields = 0;
    for (unsigned f = 0; f < 4; ++f)
      if (instruction.registers[f] == kZero) fields |= static_cast<uint8_t>(1u << f);
    return fields;
  }

  ValueClasses possible_results(const Instruction& i) const override {
    const bool reads_a = i.registers[0] != kZero, reads_b = i.registers[1] != kZero;
    if (i.opcode == opcode("lda") && !i.has_reference() && !reads_b) return class_of(i.immediate);
    if (i.opcode == opcode("bis") && !reads_a && !reads_b) return kZeroValue;
    if (i.opcode == opcode("bis", true) && !reads_a) return class_of(i.immediate);
    for (const uint16_t comparison :
         {opcode("cmpeq"), opcode("cmplt"), opcode("cmple"), opcode("cmpult"), opcode("cmpule"),
          opcode("cmpeq", true), opcode("cmplt", true), opcode("cmple", true),
          opcode("cmpult", true), opcode("cmpule", true)})
      if (i.opcode == comparison) return kZeroValue | kPositiveOdd;
    if (i.opcode == opcode("and", true)) return kZeroValue | kPositiveEven | kPositiveOdd;
    return kAnyClass;
  }

  std::optional<ValueClasses> taken_for(const Instruction& branch) const override {
    switch (branch.opcode) {
      case opcode("beq"):
        return kZeroValue;
      case opcode("bne"):
        return kAnyClass & ~kZeroValue;
      case opcode("blt"):
        return kNegativeEven | kNegativeOdd;
      case opcode("bge"):
        return kZeroValue | kPositiveEven | kPositiveOdd;
      case opcode("ble"):
        return kNegativeEven | kNegativeOdd | kZeroValue;
      case opcode("bgt"):
        return kPositiveEven | kPositiveOdd;
      case opcode("blbc"):
        return kNegativeEven | kZeroValue | kPositiveEven;
      case opcode("blbs"):
        return kNegativeOdd | kPositiveOdd;
      default:
        return std::nullopt;
    }
  }

  bool rename(Instruction& instruction, Register from, Register to, bool uses,
              bool defs) const override {
    if (from >= kFpcr || to >= kFpcr || (from < kFloating) != (to < kFloating)) return false;
    if (instruction.opcode < kFirstMachineOpcode) return false;
    const Encoding& encoding = encoding_of(instruction);
    // Their registers are in no field, or in three.
    if (encoding.format == Format::palcode || instruction.opcode == opcode("mt_fpcr") ||
        instruction.opcode == opcode("mf_fpcr"))
      return false;
    const Roles& roles = encoding.roles;
    Instruction result = instruction;
    for (unsigned field = 0; field < 3; ++field) {
      const unsigned bit = 1u << field;
      const bool read = (roles.reads & bit) != 0, written = (roles.writes & bit) != 0;
      const bool floating = (roles.floating & bit) != 0;
      if ((!read && !written) || floating != (from >= kFloating) ||
          instruction.registers[field] != number(from))
        continue;
      if ((read && uses) != read || (written && defs) != written) {
        if ((read && uses) || (written && defs)) return false;
        continue;
      }
      result.registers[field] = number(to);
    }
    instruction = result;
    return true;
  }

  std::optional<Instruction> copy(Register from, Register to) const override {
    if (from >= kFpcr || to >= kFpcr || (from < kFloating) != (to < kFloating)) return std::nullopt;
    Instruction result;
    const bool floating = from >= kFloating;
    result.opcode = floating ? opcode("cpys") : opcode("bis");
    result.registers[0] = floating ? number(from) : kZero;
    result.registers[1] = number(from);
    result.registers[2] = number(to);
    return result;
  }

  std::span<const Register> replacements() const override { return kReplacements; }

 private:
  static constexpr uint8_t number(Register r) {
    return static_cast<uint8_t>(r < kFloating ? r : r - kFloating);
  }
};

}  // namespace

const RewriteFacts& alpha_rewrite_facts() {
  static const AlphaRewriteFacts facts;
  return facts;
}

}  // namespace respike
