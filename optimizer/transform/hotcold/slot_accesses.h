#pragma once
// Loads and stores of private slots (private_slots.h) that hot code can do without.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

/// Loads whose value is still in the register, or in another: these go, or become copies, which do
/// not count as removed.
Removed remove_redundant_loads(HotProcedure& procedure);

/// Stores that no hot code reads go; where cold code does, stubs store. Only as long as nothing was
/// called.
Removed sink_partial_dead_stores(HotProcedure& procedure);

}  // namespace respike
