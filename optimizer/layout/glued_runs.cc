// Runs of glued blocks.
//
// A block with kGluedToNext is followed by the target of its fall-through edge. Each block that no
// other block is glued to starts a run; the links give the rest of the run. Linear in the blocks.
//
// Example: of the blocks 0 to 3, block 1 is glued to block 2. The runs are {0}, {1, 2}, {3}.

#include "optimizer/layout/glued_runs.h"

namespace respike {

std::vector<std::vector<BlockId>> glued_runs(const Procedure& procedure) {
  std::vector<bool> follows(procedure.blocks.size());
  std::vector<BlockId> next(procedure.blocks.size(), kNone);
  for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
    const BasicBlock& block = procedure.blocks[id];
    if (!block.has(BasicBlock::kGluedToNext)) continue;
    for (const Edge& edge : block.successors)
      if (edge.kind == Edge::Kind::fall_through) {
        next[id] = edge.target;
        follows[edge.target] = true;
      }
  }
  std::vector<std::vector<BlockId>> runs;
  for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
    if (follows[id]) continue;
    auto& run = runs.emplace_back();
    for (BlockId at = id; at != kNone; at = next[at]) run.push_back(at);
  }
  return runs;
}

}  // namespace respike
