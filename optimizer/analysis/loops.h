#pragma once
// Loops: which blocks repeat, and how deeply loops nest.

#include <vector>

#include "optimizer/analysis/block_graph.h"
#include "optimizer/analysis/dominators.h"

namespace respike {

inline constexpr uint32_t kNoLoop = 0xffffffff;

/// A natural loop: a header that dominates all blocks of the loop, and some of these blocks lead
/// back to it. All back edges to one header make one loop.
struct Loop {
  BlockId header = kNone;
  uint32_t parent = kNoLoop;     // the innermost loop around it
  uint32_t depth = 1;            // 1: not inside of another loop
  std::vector<BlockId> latches;  // sources of the back edges, ascending
};

struct Loops {
  std::vector<Loop> loops;          // inner loops before outer loops
  std::vector<uint32_t> innermost;  // per block, the innermost loop that holds it, or kNoLoop
  /// Blocks that repeat without a header of their own: cycles that can be entered at several
  /// places, and that no natural loop explains. Their depth only counts natural loops.
  std::vector<bool> irreducible;

  uint32_t depth(BlockId block) const {
    return innermost[block] == kNoLoop ? 0 : loops[innermost[block]].depth;
  }
};

/// Linear time, apart from the depth of nesting. Blocks that no entry reaches are in no loop.
Loops find_loops(const BlockGraph& graph, const Dominators& dominators);

/// How often control came into a loop that ran, by the counts of the procedure: executions of the
/// header minus those that came from a latch. At least 1, since counts need not add up if control
/// did not come back from a call.
uint64_t loop_entries(const Procedure& procedure, const Loop& loop);

}  // namespace respike
