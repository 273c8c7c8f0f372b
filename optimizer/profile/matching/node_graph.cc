// A profile lists blocks and edges; a node stands for blocks that follow each other without a
// choice. An edge between blocks of different nodes is an arc. An edge to a block without a node is
// followed through such blocks to the first block that has a node. Example: blocks A and B are node
// 0, C has no node, D is node 1; of the edges A->B, B->C, C->D the graph has the arc 0->1.
//
// Profiles come from files: a block without a node may have several successors or be part of a
// cycle. Then the graph lacks the arc.

#include "optimizer/profile/matching/node_graph.h"

#include <algorithm>

#include "optimizer/base/saturating.h"

namespace respike {
namespace {

/// Finds the node that a block belongs to or, if the block has no node, leads to.
class Resolver {
 public:
  explicit Resolver(const ProcedureProfile& procedure)
      : blocks_(procedure.blocks), only_(blocks_.size(), kNone), node_(blocks_.size(), kOpen) {
    std::vector<uint32_t> ways(blocks_.size());
    for (const auto& edge : procedure.edges)
      only_[edge.from] = ways[edge.from]++ == 0 ? edge.to : kNone;
  }

  uint32_t node_at(BlockId block) {
    std::vector<BlockId> path;
    while (block != kNone && node_[block] == kOpen) {
      path.push_back(block);
      node_[block] = blocks_[block].node;  // kNone, not kOpen, while followed: ends cycles
      if (node_[block] != kNone) break;
      block = only_[block];
    }
    const uint32_t node = block == kNone ? kNone : node_[block];
    for (const BlockId b : path) node_[b] = node;
    return node;
  }
  /// The only successor of a block, or kNone.
  BlockId only_way(BlockId block) const { return only_[block]; }

 private:
  static constexpr uint32_t kOpen = kNone - 1;
  const std::vector<ProcedureProfile::Block>& blocks_;
  std::vector<BlockId> only_;
  std::vector<uint32_t> node_;
};

}  // namespace

NodeGraph::NodeGraph(const ProcedureProfile& procedure) : nodes(procedure.nodes.size()) {
  for (uint32_t n = 0; n < nodes.size(); ++n) nodes[n].hash = procedure.nodes[n];
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const auto& block = procedure.blocks[b];
    if (block.node == kNone) continue;
    Node& node = nodes[block.node];
    node.instructions += block.instructions;
    node.count = std::max(node.count, block.count);
  }
  for (const auto& call : procedure.calls) {
    const uint32_t n = procedure.blocks[call.block].node;
    if (n == kNone) continue;
    nodes[n].calls = true;
    nodes[n].callee = call.callee;
  }
  Resolver resolver(procedure);
  std::vector<bool> follows(procedure.blocks.size()), goes_on(procedure.blocks.size());
  for (uint32_t e = 0; e < procedure.edges.size(); ++e) {
    const auto& edge = procedure.edges[e];
    const uint32_t from = procedure.blocks[edge.from].node;
    const uint32_t to = resolver.node_at(edge.to);
    if (from == kNone) continue;
    if (to == kNone) {
      nodes[from].away = e;
      continue;
    }
    const bool inside = from == procedure.blocks[edge.to].node && edge.to != edge.from &&
                        resolver.only_way(edge.from) == edge.to;
    if (inside) {
      follows[edge.to] = goes_on[edge.from] = true;
    } else {
      arcs.push_back({from, to, edge.from, e, edge.count});
      nodes[from].out = saturating_add(nodes[from].out, edge.count);
      nodes[to].in = saturating_add(nodes[to].in, edge.count);
    }
  }
  for (const Switch& table : procedure.switches) {
    std::vector<uint32_t>& targets = switches.emplace_back();
    for (const BlockId block : table) targets.push_back(resolver.node_at(block));
  }
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    if (procedure.blocks[b].node == kNone) continue;
    Node& node = nodes[procedure.blocks[b].node];
    if (!follows[b] || node.first == kNone) node.first = b;
    if (!goes_on[b] || node.last == kNone) node.last = b;
  }
  std::stable_sort(arcs.begin(), arcs.end(),
                   [](const Arc& a, const Arc& b) { return a.from < b.from; });
  first_arc.assign(nodes.size() + 1, 0);
  first_into.assign(nodes.size() + 1, 0);
  for (const Arc& arc : arcs) {
    ++first_arc[arc.from + 1];
    ++first_into[arc.to + 1];
  }
  for (size_t n = 0; n < nodes.size(); ++n) {
    first_arc[n + 1] += first_arc[n];
    first_into[n + 1] += first_into[n];
  }
  into.resize(arcs.size());
  std::vector<uint32_t> next(first_into.begin(), first_into.end() - 1);
  for (uint32_t a = 0; a < arcs.size(); ++a) into[next[arcs[a].to]++] = a;
}

}  // namespace respike
