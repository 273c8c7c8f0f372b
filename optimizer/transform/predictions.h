#pragma once
// What branches say of themselves.

#include <cstdint>

#include "optimizer/ir/program.h"

namespace respike {

/// Makes the conditional branches of movable procedures predict what the counts say, where the
/// machine has hints and the branch ran. Returns how many changed. Linear.
uint64_t predict_branches(Program& program);

}  // namespace respike
