#pragma once
// Made-up executions: what a program's counts say about the order in which its code runs.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/layout/calls.h"

namespace respike {

/// Blocks of movable procedures in the order in which they run, numbered through all procedures.
/// kNone: the walk starts anew.
using Trace = std::vector<uint32_t>;

/// Walks at random from block to block, as often as the counts say: along edges, into callees, and
/// back to return points. Where the walk did not see the call, it returns from a call of the
/// procedure, drawn by the calls' counts. Calls whose callee is unknown go to the procedures that
/// run more often than known calls explain. The walk starts anew every 4,096 blocks at a block
/// drawn by its count, so that all phases of a program get their share. Where the counts are
/// consistent, blocks come up as often as the counts say. `blocks`: the length of the trace; the
/// trace is shorter where nothing ran. The same program gives the same walk.
Trace walk(const Program& program, std::span<const CodeCall> calls, uint64_t blocks);

}  // namespace respike
