#pragma once
// Calls of other images without a detour.

#include <cstdint>

#include "optimizer/ir/program.h"

namespace respike {

/// Changes calls that ran and lead to stubs of the procedure linkage table: they now call through
/// the stubs' pointers. Returns how many calls were changed.
uint64_t call_imports_directly(Program& program);

}  // namespace respike
