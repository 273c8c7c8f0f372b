#pragma once
// Stops that nothing needs.

#include <vector>

#include "optimizer/ir/program.h"

namespace respike::ia64 {

/// Removes stops from code that runs one instruction after the other: an instruction group that
/// does not depend on the previous group joins it, up to six instructions (a movl takes two slots
/// and counts as two). `starts_group`: the code certainly starts a group. Pseudo-instructions are
/// not allowed. Linear.
void join_groups(std::vector<Instruction>& code, bool starts_group);

}  // namespace respike::ia64
