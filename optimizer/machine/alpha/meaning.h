#pragma once
// What Alpha instructions do: registers, control flow, roles in sequences.

#include <span>

#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike::alpha {

// Flat numbering of registers: integer registers 0 to 30, floating-point registers 31 to 61.
inline constexpr Register kFloating = 31;
inline constexpr Register kFpcr = 62;
inline constexpr Register kLockFlag = 63;
inline constexpr unsigned kRegisterCount = 64;

enum : Register {
  kV0 = 0,
  kT0 = 1,
  kS0 = 9,
  kFp = 15,
  kA0 = 16,
  kA1,
  kA2,
  kA3,
  kA4,
  kA5,
  kT8,
  kT9,
  kT10,
  kT11,
  kRa,
  kPv,
  kAt,
  kGp,
  kSp,
};
inline constexpr uint8_t kZero = 31;  // in a field of an instruction; not a Register

InstructionFacts facts(const Instruction& instruction);
Operands operands(const Instruction& instruction);
inline ControlFlow control_flow(const Instruction& instruction) {
  return facts(instruction).flow;
}
bool is_signal_return(std::span<const Instruction> instructions);
Abi make_abi();
/// For Windows NT.
Abi make_windows_abi();

/// Gives a conditional branch the opposite condition; returns false for other instructions.
bool invert(Instruction& instruction);

}  // namespace respike::alpha
