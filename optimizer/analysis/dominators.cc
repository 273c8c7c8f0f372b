// Dominators by the semi-NCA algorithm.
//
// A depth-first walk numbers the blocks. The semidominator of a block is the block with the lowest
// number from which a path leads to the block only through higher numbers. Semidominators are found
// from the last block to the first, with path compression over the tree of the walk. The immediate
// dominator of a block is the nearest ancestor of the block's parent that is not above the
// semidominator. Immediate dominators are found from the first block to the last, along the
// immediate dominators known so far. In practice semi-NCA is the fastest of the simple algorithms.
// Iteration over the flow graph, as in Cooper, Harvey and Kennedy, takes quadratic time on some
// graphs that compilers make (deep nests of loops).
//
// Source: Georgiadis, Tarjan, Werneck: Finding Dominators in Practice, Journal of Graph Algorithms
// and Applications 10 (2006), section 2.

#include "optimizer/analysis/dominators.h"

#include <algorithm>
#include <utility>

namespace respike {
namespace {

/// Blocks by number. Number 0 is an added block that leads to all entries.
class SemiNca {
 public:
  explicit SemiNca(const BlockGraph& graph) : graph_(graph), number_(graph.successors.size(), 0) {
    block_.push_back(kNone);
    parent_.push_back(0);
    for (const BlockId entry : graph.entries) walk(entry);
    const size_t count = block_.size();
    semi_.resize(count);
    label_.resize(count);
    ancestor_ = parent_;
    idom_ = parent_;
    for (uint32_t v = 0; v < count; ++v) semi_[v] = label_[v] = v;
  }

  void run() {
    const uint32_t count = static_cast<uint32_t>(block_.size());
    for (uint32_t v = count; v-- > 1;) {
      semi_[v] = parent_[v];
      for (const BlockId before : graph_.predecessors[block_[v]])
        if (number_[before] != 0) semi_[v] = std::min(semi_[v], semi_[lowest(number_[before], v)]);
      if (is_entry(block_[v])) semi_[v] = 0;
      label_[v] = v;
    }
    for (uint32_t v = 1; v < count; ++v)
      while (idom_[v] > semi_[v]) idom_[v] = idom_[idom_[v]];
  }

  const std::vector<BlockId>& blocks() const { return block_; }
  const std::vector<uint32_t>& immediate() const { return idom_; }

 private:
  bool is_entry(BlockId block) const {
    return std::binary_search(graph_.entries.begin(), graph_.entries.end(), block);
  }

  void walk(BlockId root) {
    if (number_[root] != 0) return;
    std::vector<std::pair<BlockId, uint32_t>> path;
    const auto start = [&](BlockId block, uint32_t parent) {
      number_[block] = static_cast<uint32_t>(block_.size());
      block_.push_back(block);
      parent_.push_back(parent);
      path.emplace_back(block, graph_.successors.first[block]);
    };
    start(root, 0);
    while (!path.empty()) {
      const BlockId block = path.back().first;
      if (path.back().second == graph_.successors.first[block + 1]) {
        path.pop_back();
        continue;
      }
      const BlockId target = graph_.successors.targets[path.back().second++];
      if (number_[target] == 0) start(target, number_[block]);
    }
  }

  /// The number with the lowest semidominator among `v` and the ancestors of `v` above `linked`,
  /// which the main loop has handled already. Compresses the path.
  uint32_t lowest(uint32_t v, uint32_t linked) {
    if (v <= linked) return v;
    path_.clear();
    for (uint32_t at = v; ancestor_[at] > linked; at = ancestor_[at]) path_.push_back(at);
    for (size_t i = path_.size(); i-- > 0;) {
      const uint32_t at = path_[i], above = ancestor_[at];
      if (semi_[label_[above]] < semi_[label_[at]]) label_[at] = label_[above];
      ancestor_[at] = ancestor_[above];
    }
    return label_[v];
  }

  const BlockGraph& graph_;
  std::vector<uint32_t> number_;  // per block; 0: not reached
  std::vector<BlockId> block_;    // by number, like the vectors below
  std::vector<uint32_t> parent_, ancestor_, semi_, label_, idom_;
  std::vector<uint32_t> path_;
};

}  // namespace

Dominators::Dominators(const BlockGraph& graph) {
  const size_t blocks = graph.successors.size();
  SemiNca algorithm(graph);
  algorithm.run();
  immediate_.assign(blocks, kNone);
  first_.assign(blocks, 0);
  last_.assign(blocks, 0);
  const auto& block = algorithm.blocks();
  const auto& idom = algorithm.immediate();
  // A dominator has a lower number than the blocks that it dominates.
  std::vector<std::pair<uint32_t, uint32_t>> tree;
  for (uint32_t v = 1; v < block.size(); ++v) {
    immediate_[block[v]] = block[idom[v]];
    top_down_.push_back(block[v]);
    tree.emplace_back(idom[v], v);
  }
  const Adjacency children = make_adjacency(block.size(), tree);
  uint32_t numbers = 0;
  std::vector<std::pair<uint32_t, uint32_t>> path = {{0, children.first[0]}};
  while (!path.empty()) {
    const uint32_t node = path.back().first;
    if (path.back().second == children.first[node + 1]) {
      if (node != 0) last_[block[node]] = ++numbers;
      path.pop_back();
      continue;
    }
    const uint32_t child = children.targets[path.back().second++];
    first_[block[child]] = ++numbers;
    path.emplace_back(child, children.first[child]);
  }
}

}  // namespace respike
