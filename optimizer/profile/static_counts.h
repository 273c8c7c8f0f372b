#pragma once
// Estimated counts for programs without a profile.

#include "optimizer/analysis/call_graph.h"
#include "optimizer/ir/program.h"

namespace respike {

inline constexpr double kStaticScale = 1000;

/// Sets the counts of all blocks and edges, except edges to landing pads, from the shape of the
/// program: within a procedure by estimate_flow(), after Wu and Larus (MICRO 1994). The number of
/// calls is chosen so that each procedure executes its instructions kStaticScale times on average.
/// Procedures that no run reaches (CallGraph::unused()) get no counts.
void set_static_counts(Program& program, const CallGraph& calls);

}  // namespace respike
