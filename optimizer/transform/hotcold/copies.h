#pragma once
// Copies that hot code can do without.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

/// Reads what a copy was made of in place of the copy wherever both certainly hold the same, and
/// removes copies of a register to itself. Copies that nobody reads any more are left to
/// sink_partial_dead_code().
Removed propagate_copies(HotProcedure& procedure);

}  // namespace respike
