#pragma once
// What optimizations that change instructions ask of a machine, in addition to what layout asks.

#include <optional>

#include "optimizer/ir/program.h"
#include "optimizer/machine/register.h"

namespace respike {

/// A set of classes of integers, as bits. Conditional branches distinguish these classes; each
/// integer is in exactly one class.
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

class RewriteFacts {
 public:
  virtual ~RewriteFacts() = default;

  /// Whether the instruction only computes its results from the registers that it reads: it touches
  /// no memory, never traps, and does the same at every address.
  virtual bool is_pure(const Instruction&) const = 0;

  /// Bit f: field f of Instruction::registers names a register that always reads as zero and is no
  /// operand.
  virtual uint8_t zero_fields(const Instruction&) const = 0;

  /// The classes that can contain the result of a pure instruction with one integer result, for all
  /// values of its sources.
  virtual ValueClasses possible_results(const Instruction&) const = 0;

  /// The classes for which a conditional branch is taken: classes of the one register that the
  /// branch reads, or of zero if it reads no register. nullopt: something else decides.
  virtual std::optional<ValueClasses> taken_for(const Instruction& branch) const = 0;

  /// Puts `to` where the instruction reads `from` (`uses`), writes `from` (`defs`) or both. Returns
  /// false, with the instruction unchanged, when no field can do so: `to` is of another kind, or
  /// the same field is read and written and only one of the two is to change.
  virtual bool rename(Instruction&, Register from, Register to, bool uses, bool defs) const = 0;

  /// The instruction that copies a whole register; nullopt when there is none.
  virtual std::optional<Instruction> copy(Register from, Register to) const = 0;

  /// Scratch registers that may replace other registers, the best first.
  virtual std::span<const Register> replacements() const = 0;
};

}  // namespace respike
