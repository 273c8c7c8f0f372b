#pragma once
// Hints of branches.

#include <cstdint>

#include "optimizer/ir/program.h"

namespace respike {

/// Sets the hints of the conditional branches of movable procedures by the counts, where the
/// machine has hints and the branch ran. Returns how many hints changed. Linear.
uint64_t predict_branches(Program& program);

}  // namespace respike
