#pragma once
// Branches of hot code that go one way only.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

/// Takes out conditional branches that are never taken, or always, on all ways through the hot
/// procedure. What only they led to, blocks and stubs, is not reached any more.
Removed remove_decided_branches(HotProcedure& procedure);

}  // namespace respike
