#pragma once
// What optimizations that change instructions ask of a machine, beside what layout asks.

#include <optional>

#include "optimizer/ir/program.h"
#include "optimizer/machine/probes.h"

namespace respike {

/// What conditional branches tell apart in an integer register, as bits of sets: each value is in
/// exactly one of these classes.
using ValueClasses = uint8_t;
enum : ValueClasses {
  kNegativeEven = 1,
  kNegativeOdd = 2,
  kZeroValue = 4,
  kPositiveEven = 8,
  kPositiveOdd = 16,
  kAnyClass = 31,
};

constexpr ValueClasses class_of(int64_t value) {
  const bool odd = (value & 1) != 0;
  if (value == 0) return kZeroValue;
  if (value < 0) return odd ? kNegativeOdd : kNegativeEven;
  return odd ? kPositiveOdd : kPositiveEven;
}

enum class WholeAccess : uint8_t { none, load, store };

class RewriteFacts {
 public:
  virtual ~RewriteFacts() = default;

  /// Whether all that the instruction does is to compute its results from the registers that it
  /// reads: it touches no memory, never traps, and does the same wherever it stands.
  virtual bool is_pure(const Instruction&) const = 0;

  /// Bit f: field f of Instruction::registers names a register that always reads as zero, which is
  /// no operand.
  virtual uint8_t zero_fields(const Instruction&) const = 0;

  /// Classes that the result of a pure instruction with one integer result is in, whatever the
  /// registers that it reads hold.
  virtual ValueClasses possible_results(const Instruction&) const = 0;

  /// The classes for which a conditional branch is taken, of the one register that it reads, or of
  /// zero if it reads none. nullopt: by something else.
  virtual std::optional<ValueClasses> taken_for(const Instruction& branch) const = 0;

  /// Whether an instruction does nothing but to load or store all bits of a register, 8 bytes, at
  /// the register it reads last plus its lower half (Fixups::field).
  virtual WholeAccess whole_access(const Instruction&) const = 0;

  /// Puts `to` where `from` is read (`uses`), written (`defs`) or both. False, and the instruction
  /// unchanged, when it cannot: a field of another kind, or one both read and written of which only
  /// one is to change.
  virtual bool rename(Instruction&, Register from, Register to, bool uses, bool defs) const = 0;

  /// Copies a whole register; nullopt when one instruction cannot.
  virtual std::optional<Instruction> copy(Register from, Register to) const = 0;

  /// Those that may take the place of others: no fixed role in the calling standard, free to change
  /// in any procedure; the best first.
  virtual std::span<const Register> replacements() const = 0;
};

}  // namespace respike
