#pragma once
// Copy propagation in hot code.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

/// Makes instructions read the source of a copy instead of its target wherever both certainly hold
/// the same value, and removes copies of a register to itself. Copies whose target is no longer
/// read are left to sink_partial_dead_code().
Removed propagate_copies(HotProcedure& procedure);

}  // namespace respike
