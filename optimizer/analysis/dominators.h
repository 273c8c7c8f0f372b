#pragma once
// Dominators: block a dominates block b when every path from an entry to b goes through a.

#include <vector>

#include "optimizer/analysis/block_graph.h"

namespace respike {

class Dominators {
 public:
  /// A graph with several entries is treated as if an added block led to all entries. Nearly
  /// linear.
  explicit Dominators(const BlockGraph& graph);

  /// The closest other block that dominates `block`; kNone for entries, for blocks that only the
  /// entries together dominate, and for blocks that no entry reaches.
  BlockId immediate(BlockId block) const { return immediate_[block]; }
  bool reachable(BlockId block) const { return last_[block] != 0; }
  /// A block dominates itself. Constant time. False if either block is not reachable.
  bool dominates(BlockId a, BlockId b) const {
    return reachable(a) && reachable(b) && first_[a] <= first_[b] && last_[b] <= last_[a];
  }
  /// Reachable blocks, each after its immediate dominator.
  const std::vector<BlockId>& top_down() const { return top_down_; }

 private:
  std::vector<BlockId> immediate_;
  std::vector<BlockId> top_down_;
  std::vector<uint32_t> first_, last_;  // numbers of a walk of the tree; 0: not reachable
};

}  // namespace respike
