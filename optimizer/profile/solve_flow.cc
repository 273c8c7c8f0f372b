// Solving flow equations on a spanning forest.
//
// The edges without counters form a forest (Knuth, "Optimal measurement points for program
// frequency counts", BIT 1973). A leaf of the forest has one unknown edge, and the leaf's equation
// gives its count; then that edge is known, and the leaf is removed. Every node is removed once.
// The last node of a tree has no unknown edge left: its equation is a check, and the difference is
// the flow that calls in this part of the procedure did not return.
//
// Example: the loop H -> B -> H of two nodes, entered at H and left from B, with counters on the
// entry (1), the edge B -> H (9) and the exit (1). B has one unknown edge, H -> B: 9 + 1 = 10. H
// then has 1 + 9 in and 10 out: no flow was lost.
//
// A node needs to know its unknown edge only when there is a single one. So a node keeps the
// exclusive or of its unknown edges instead of a list. Arithmetic is modulo 2^64, in which the
// equations hold for any counters; readers of the counts take them as signed.

#include "optimizer/profile/solve_flow.h"

#include <algorithm>
#include <cassert>

#include "optimizer/base/disjoint_sets.h"

namespace respike {
namespace {

class Peeler {
 public:
  Peeler(const FlowGraph& graph, std::span<const uint64_t> counters,
         std::span<const CallLoss> losses)
      : graph_(graph), nodes_(graph.nodes()) {
    solution_.counts.assign(graph.edges.size(), 0);
    for (uint32_t e = 0; e < graph.edges.size(); ++e) {
      const FlowEdge& edge = graph.edges[e];
      if (edge.counter != kNone) {
        assert(edge.counter < counters.size());
        settle(e, counters[edge.counter]);
        continue;
      }
      ++unknown_;
      for (const uint32_t node : {edge.from, edge.to}) {
        ++nodes_[node].unknown;
        nodes_[node].edges ^= e;
      }
    }
    for (const CallLoss& loss : losses)
      nodes_[graph.out(loss.block)].excess -= static_cast<uint64_t>(loss.amount);
  }

  FlowSolution solve() {
    for (uint32_t node = 0; node < nodes_.size(); ++node) peel_from(node);
    solution_.solvable = unknown_ == 0;
    for (uint32_t node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].excess != 0 && conserves(node))
        solution_.imbalances.push_back({node, static_cast<int64_t>(nodes_[node].excess)});
    return std::move(solution_);
  }

 private:
  struct Node {
    uint64_t excess = 0;   // known flow in, less known flow out
    uint32_t unknown = 0;  // edges
    uint32_t edges = 0;    // exclusive or of the unknown edges
  };

  /// Whether the flow equation holds at a node: outside() keeps the flow that calls do not return.
  bool conserves(uint32_t node) const { return node != graph_.outside(); }

  void settle(uint32_t edge, uint64_t count) {
    solution_.counts[edge] = count;
    nodes_[graph_.edges[edge].from].excess -= count;
    nodes_[graph_.edges[edge].to].excess += count;
  }

  /// Removes a node if it is a leaf, then its neighbour if that has become a leaf, and so on.
  void peel_from(uint32_t node) {
    while (nodes_[node].unknown == 1 && conserves(node)) {
      const uint32_t e = nodes_[node].edges;
      const FlowEdge& edge = graph_.edges[e];
      settle(e, edge.from == node ? nodes_[node].excess : 0 - nodes_[node].excess);
      for (const uint32_t end : {edge.from, edge.to}) {
        --nodes_[end].unknown;
        nodes_[end].edges ^= e;
      }
      --unknown_;
      node = edge.from == node ? edge.to : edge.from;
    }
  }

  const FlowGraph& graph_;
  std::vector<Node> nodes_;
  uint64_t unknown_ = 0;
  FlowSolution solution_;
};

}  // namespace

FlowSolution solve_flow(const FlowGraph& graph, std::span<const uint64_t> counters,
                        std::span<const CallLoss> losses) {
  return Peeler(graph, counters, losses).solve();
}

bool has_spanning_forest(const FlowGraph& graph) {
  DisjointSets parts(graph.nodes());
  for (const FlowEdge& edge : graph.edges)
    if (edge.counter == kNone && !parts.unite(edge.from, edge.to)) return false;
  return true;
}

std::vector<uint32_t> flow_parts(const FlowGraph& graph) {
  DisjointSets parts(graph.nodes());
  for (const FlowEdge& edge : graph.edges)
    if (edge.counter == kNone) parts.unite(edge.from, edge.to);
  std::vector<uint32_t> result(graph.nodes());
  for (uint32_t node = 0; node < result.size(); ++node) result[node] = parts.find(node);
  return result;
}

}  // namespace respike
