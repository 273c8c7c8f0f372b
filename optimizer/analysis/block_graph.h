#pragma once
// The flow graph of one procedure for analyses: edges in both directions, and a postorder.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// Edges between nodes 0 .. size() - 1, kept in two arrays. Parallel edges stay parallel.
struct Adjacency {
  std::vector<uint32_t> first;    // size() + 1 indices of `targets`
  std::vector<uint32_t> targets;  // grouped by source, then in the order of the edges given

  size_t size() const { return first.empty() ? 0 : first.size() - 1; }
  std::span<const uint32_t> operator[](uint32_t node) const {
    return {targets.data() + first[node], targets.data() + first[node + 1]};
  }
};

/// Groups edges (source, target) by their source. Linear.
Adjacency make_adjacency(size_t nodes, std::span<const std::pair<uint32_t, uint32_t>> edges);
/// The graph with all edges reversed.
Adjacency reversed(const Adjacency& graph);

/// All nodes in the postorder of a depth-first walk from `roots`: each node comes after the nodes
/// that the walk reached from it. Backward problems converge fast in this order, forward problems
/// in the reverse order. Nodes that the roots do not reach are walked last, from the lowest number
/// on.
std::vector<uint32_t> postorder(const Adjacency& graph, std::span<const uint32_t> roots);

struct BlockGraph {
  Adjacency successors;
  Adjacency predecessors;
  std::vector<BlockId> entries;    // blocks that control may enter from outside, ascending
  std::vector<BlockId> postorder;  // of all blocks, from the entries
};

/// Entries are block 0, blocks flagged as entries, and blocks without predecessors.
BlockGraph make_block_graph(const Procedure& procedure);
/// The same, with only those edges that ran, by the counts of the procedure. So a path that never
/// ran (an exception that was not thrown) leads into no loop. A block that did not run may be among
/// the entries; it leads nowhere.
BlockGraph make_executed_graph(const Procedure& procedure);

}  // namespace respike
