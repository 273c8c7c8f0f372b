#pragma once
// The text form of the IR, for people, for tests (tests/ir/) and for diffs.

#include <string>
#include <string_view>

#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

std::string print(const Program& program);
std::string print(const Program& program, const Procedure& procedure);

/// Reads what print() writes; throws Error with the line number. The program has no image.
Program parse_program(std::string_view text, const Machine& machine);

}  // namespace respike
