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

/// As `objdump -d` prints it at `address`, mnemonic and operands separated by a tab.
std::string print(const Instruction& instruction, uint64_t address);

/// The inverse; aliases give the instruction that they stand for. Throws Error.
Instruction parse(std::string_view text, uint64_t address);

}  // namespace respike::alpha
