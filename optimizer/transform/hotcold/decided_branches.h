#pragma once
// Branches of hot code that are always taken, or never.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

/// Removes conditional branches that are never or always taken on all paths through the hot
/// procedure. Blocks and stubs to which only such branches led become unreachable.
Removed remove_decided_branches(HotProcedure& procedure);

}  // namespace respike
