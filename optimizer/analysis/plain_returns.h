#pragma once
// Which procedures come back from a call only once for each call, and only by their own doing.

#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/ir/program.h"

namespace respike {

/// Per procedure: whether the place behind a call of it is reached by nothing but its own ways out
/// and those of procedures that it branches to. False for setjmp, for switches of stacks and
/// whatever else may let somebody know where it returns to, and for opaque procedures. Linear.
std::vector<bool> find_plain_returns(const Program& program, const CallGraph& calls);

}  // namespace respike
