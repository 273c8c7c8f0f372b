#pragma once
// Counts for programs that nobody ran.

#include "optimizer/ir/program.h"

namespace respike {

/// Sets the counts of all blocks and edges, but for those to landing pads, from the shape of the
/// program: within procedures as estimate_flow() says, after Wu and Larus (MICRO 1994); between
/// procedures such that each executes its instructions kStaticScale times on the average.
/// Procedures that no run gets to (CallGraph::unused()) get none.
inline constexpr double kStaticScale = 1000;
void set_static_counts(Program& program);

}  // namespace respike
