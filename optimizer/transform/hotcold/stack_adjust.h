#pragma once
// Stack frames that hot code does not need.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

/// Takes the adjustments of the stack pointer out of a hot procedure that neither calls nor touches
/// its frame; stubs allocate it.
Removed eliminate_stack_adjusts(HotProcedure& procedure);

}  // namespace respike
