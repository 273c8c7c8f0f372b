#pragma once
// Counts for programs that nobody ran.

#include "optimizer/ir/program.h"

namespace respike {

/// Sets the counts of all blocks and edges from the shape of the program: within procedures as
/// estimate_flow() says, and procedures as often as their known callers call them (Wu and Larus,
/// MICRO 1994, section 5), without what recursion adds. Procedures that unknown code may call are
/// called once by it. kStaticScale stands for one execution.
inline constexpr double kStaticScale = 1000;
void set_static_counts(Program& program);

}  // namespace respike
