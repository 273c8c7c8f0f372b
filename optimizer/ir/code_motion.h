#pragma once
// What optimizations that change instructions ask of a machine, beside what layout asks.

#include <optional>

#include "optimizer/ir/probes.h"
#include "optimizer/ir/program.h"

namespace respike {

class CodeMotion {
 public:
  virtual ~CodeMotion() = default;

  /// Whether all that the instruction does is to compute its results from the registers that it
  /// reads: it touches no memory, never traps, and does the same wherever it stands.
  virtual bool is_pure(const Instruction&) const = 0;

  /// Bit f: field f of Instruction::registers names a register that always reads as zero, which is
  /// no operand.
  virtual uint8_t zero_fields(const Instruction&) const = 0;

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
