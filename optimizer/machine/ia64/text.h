#pragma once
// Assembler text of Itanium instructions, in GNU syntax.

#include <cstdint>
#include <string>
#include <string_view>

#include "optimizer/machine/ia64/codec.h"

namespace respike::ia64 {

/// As `objdump -d` prints it, without the template and the blanks that make columns:
/// "(p06) add r14=r2,r3;;". address: of the bundle, with or without the number of the slot in its
/// low bits. `high`: the instruction in the slot before it, whose number an X instruction goes on.
/// The L slot itself, which objdump does not show, prints as ".high 0x0".
std::string print(const Instruction& instruction, const Instruction& high, uint64_t address);

/// "ar.pfs", "ar20".
std::string application_register_name(unsigned number);

/// An instruction and, for one of type X, the L slot before it.
struct Parsed {
  Instruction instruction;
  Instruction high;
};

/// The inverse of print(); aliases give the instruction that they stand for. The unit is that of
/// the type; of type A, which fits two, it is Unit::none. Throws Error.
Parsed parse(std::string_view text, uint64_t address);

}  // namespace respike::ia64
