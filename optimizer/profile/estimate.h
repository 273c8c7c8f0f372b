#pragma once
// Static estimates: how often the edges of a procedure run, guessed without a profile.

#include <vector>

#include "optimizer/profile/flow_graph.h"

namespace respike {

/// Expected executions of each edge of `graph` per call of `procedure`, the graph's procedure.
/// Branches follow the heuristics of Ball and Larus ("Branch prediction for free", PLDI 1993) that
/// need no knowledge of the source, with the probabilities measured by Wu and Larus ("Static branch
/// frequency and program profile analysis", MICRO 1994); loops run 8 times. Linear in the size of
/// the graph times the depth of its loops.
std::vector<double> estimate_flow(const Program& program, ProcedureId procedure,
                                  const FlowGraph& graph);

}  // namespace respike
