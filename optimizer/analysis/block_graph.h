#pragma once
// The flow graph of one procedure in the form that analyses need: both directions, and an order.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// Edges between nodes 0 .. size() - 1, kept in two arrays. Parallel edges stay parallel.
struct Adjacency {
  std::vector<uint32_t> first;    // size() + 1 indices of `targets`
  std::vector<uint32_t> targets;  // grouped by source, in the order in which they were added

  size_t size() const { return first.empty() ? 0 : first.size() - 1; }
  std::span<const uint32_t> operator[](uint32_t node) const {
    return {targets.data() + first[node], targets.data() + first[node + 1]};
  }
};

/// Groups edges by their source. Linear.
Adjacency make_adjacency(size_t nodes, std::span<const std::pair<uint32_t, uint32_t>> edges);
/// All edges turned round.
Adjacency reversed(const Adjacency& graph);

/// All nodes, each behind those that a depth-first walk from `roots` reached from it: the order in
/// which backward problems converge fast; forward ones take the reverse. What the roots do not
/// reach is walked last, from the lowest number.
std::vector<uint32_t> postorder(const Adjacency& graph, std::span<const uint32_t> roots);

struct BlockGraph {
  Adjacency successors;
  Adjacency predecessors;
  std::vector<BlockId> entries;    // where control comes in from outside, ascending
  std::vector<BlockId> postorder;  // of all blocks, from the entries
};

/// Entries are block 0, blocks flagged as entries, and those that nothing leads to.
BlockGraph make_block_graph(const Procedure& procedure);

}  // namespace respike
