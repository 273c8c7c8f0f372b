#pragma once
// Made-up executions: what a program's counts say of the order in which its code runs.

#include <cstdint>
#include <functional>
#include <span>

#include "optimizer/ir/program.h"
#include "optimizer/layout/calls.h"

namespace respike {

/// Walks at random from block to block, as often as the counts say: along edges, into callees, back
/// behind the call, and where the call was not seen, behind one of the calls that the procedure
/// gets, drawn by their counts. Starts anew every kWalk blocks at a block drawn by its count, so
/// that all phases of a program get their share. Calls `visit` for each of `steps` blocks of
/// movable procedures, and `cut` where a new walk starts. The same program gives the same walk.
void walk(const Program& program, std::span<const CodeCall> calls, uint64_t steps,
          const std::function<void(ProcedureId, BlockId)>& visit, const std::function<void()>& cut);

}  // namespace respike
