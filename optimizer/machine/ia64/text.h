#pragma once
// Assembler text of Itanium instructions, in GNU syntax.

#include <cstdint>
#include <string>
#include <string_view>

#include "optimizer/machine/ia64/codec.h"

namespace respike::ia64 {

/// The text that `objdump -d` prints, without the template and the blanks that make columns: "(p06)
/// add r14=r2,r3;;". `address`: of the bundle, with or without the number of the slot in its low
/// bits. `high`: for an X instruction, the instruction in the L slot, with the upper half of the
/// number. The L slot itself, which objdump does not show, prints as ".high 0x0".
std::string print(const Instruction& instruction, const Instruction& high, uint64_t address);

/// "ar.pfs", "ar20".
std::string application_register_name(unsigned number);

/// An instruction and, if its type is X, the L slot before the instruction.
struct Parsed {
  Instruction instruction;
  Instruction high;
};

/// The inverse of print(); an alias gives the instruction that it stands for. The unit follows from
/// the type; it is Unit::none for type A, which fits two units. Throws Error.
Parsed parse(std::string_view text, uint64_t address);

}  // namespace respike::ia64
