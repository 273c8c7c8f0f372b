#pragma once
// Which procedures come back from a call only once for each call, and only by their own doing; and
// which go nowhere else.

#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/ir/program.h"

namespace respike {

/// Per procedure: whether the place behind a call of it is reached by nothing but its own ways out
/// and those of procedures that it branches to. False for setjmp, for switches of stacks and
/// whatever else may let somebody know where it returns to, and for opaque procedures. Linear.
std::vector<bool> find_plain_returns(const Program& program, const CallGraph& calls);

/// Per procedure: whether its ways out may lead elsewhere than behind calls of it or of those that
/// branch to it. True for longjmp, for unwinders that go on in a landing pad, for whatever returns
/// on another stack or through a register other than the standard's, and for opaque procedures.
/// Linear.
std::vector<bool> find_other_returns(const Program& program, const CallGraph& calls);

}  // namespace respike
