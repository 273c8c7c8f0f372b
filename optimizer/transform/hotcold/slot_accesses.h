#pragma once
// Loads and stores of private slots (private_slots.h) that hot code can do without.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

/// Removes loads whose value the register still holds. Loads whose value another register holds
/// become copies, which do not count as removed.
Removed remove_redundant_loads(HotProcedure& procedure);

/// Removes stores to slots that no hot code reads; stubs store where cold code reads the slot. Only
/// stores before any call are removed.
Removed sink_partial_dead_stores(HotProcedure& procedure);

}  // namespace respike
