#pragma once
// Stack frames that hot code does not need.

#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

/// Removes the adjustments of the stack pointer from a hot procedure that neither calls nor touches
/// its frame; stubs allocate the frame.
Removed eliminate_stack_adjusts(HotProcedure& procedure);

}  // namespace respike
