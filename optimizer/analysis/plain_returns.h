#pragma once
// Which procedures return once for each call, by their own returns, and which may return elsewhere.

#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/ir/program.h"

namespace respike {

/// Per procedure: whether its return points are reached only by its own returns and by those of
/// procedures that it branches to. False for setjmp, for switches of stacks, for other procedures
/// that may pass their return address on, and for opaque procedures. Linear.
std::vector<bool> find_plain_returns(const Program& program, const CallGraph& calls);

/// Per procedure: whether its returns may lead to places other than the return points of calls of
/// it, or of procedures that branch to it. True for longjmp, for unwinders that continue in a
/// landing pad, for procedures that return on another stack or through another register than the
/// standard's, and for opaque procedures. Linear.
std::vector<bool> find_other_returns(const Program& program, const CallGraph& calls);

}  // namespace respike
