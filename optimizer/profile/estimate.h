#pragma once
// Static estimates of how often the edges of a procedure run, for when there is no profile.

#include <vector>

#include "optimizer/profile/flow_graph.h"

namespace respike {

/// For each edge of `graph`, the graph of `procedure`: expected executions per call of it.
/// Branches by the heuristics of Ball and Larus ("Branch prediction for free", PLDI 1993) that need
/// no knowledge of the source, with the probabilities measured by Wu and Larus ("Static branch
/// frequency and program profile analysis", MICRO 1994); loops run 8 times. Linear in the size of
/// the graph times the depth of its loops.
std::vector<double> estimate_flow(const Program& program, ProcedureId procedure,
                                  const FlowGraph& graph);

}  // namespace respike
