#pragma once
// Stops that nothing needs.

#include <vector>

#include "optimizer/ir/program.h"

namespace respike::ia64 {

/// Takes stops out of code that runs one instruction after the other: where an instruction group
/// does not depend on the one before, the two become one, of at most six instructions (a movl
/// counts for two: it takes two slots). `starts_group`: a group certainly starts with the code.
/// Pseudo-instructions are not allowed. Linear.
void join_groups(std::vector<Instruction>& code, bool starts_group);

}  // namespace respike::ia64
