#pragma once
// Assembler text of Alpha instructions, in GNU syntax with the names of OSF/1.

#include <cstdint>
#include <string>
#include <string_view>

#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike::alpha {

/// "v0" ... "sp", "zero" for 0 to 31, "$f0" ... "$f31" for 32 to 63.
std::string_view field_name(unsigned field);

/// The text that `objdump -d` prints at `address`, with a tab between mnemonic and operands.
std::string print(const Instruction& instruction, uint64_t address);

/// The inverse of print(); an alias gives the instruction that it stands for. Throws Error.
Instruction parse(std::string_view text, uint64_t address);

}  // namespace respike::alpha
