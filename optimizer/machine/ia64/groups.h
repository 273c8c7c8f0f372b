#pragma once
// Stops that nothing needs.

#include <vector>

#include "optimizer/ir/program.h"

namespace respike::ia64 {

/// Takes stops out of code that runs one instruction after the other: an instruction group that
/// does not depend on the group before is joined to it, up to six instructions (a movl takes two
/// slots and counts for two). `starts_group`: a group certainly starts with the code.
/// Pseudo-instructions are not allowed. Linear.
void join_groups(std::vector<Instruction>& code, bool starts_group);

}  // namespace respike::ia64
