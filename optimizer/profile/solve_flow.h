#pragma once
// From some counters to the counts of all edges.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/profile/flow_graph.h"

namespace respike {

/// How often the call that ends a block did not return ("through" calls: those that the graph
/// follows to their return point). Negative: it returned more often than it was made.
struct CallLoss {
  BlockId block = kNone;
  int64_t amount = 0;
  bool operator==(const CallLoss&) const = default;
};

struct FlowSolution {
  /// Of all edges, modulo 2^64: a count that comes out negative is above 2^63.
  std::vector<uint64_t> counts;

  /// More flows into a part of the graph than out of it: calls there lost `amount` in all. A part
  /// is what edges without counters connect; `node` is in it.
  struct Imbalance {
    uint32_t node = kNone;
    int64_t amount = 0;
  };
  std::vector<Imbalance> imbalances;

  /// false: there are cycles without a counter, which no spanning tree leaves; counts are
  /// meaningless.
  bool solvable = true;

  bool balanced() const { return solvable && imbalances.empty(); }
};

/// Solves the equations "as much flows into a node as out of it". `counters` holds every counter
/// that the graph names. Linear time, whatever the counters hold.
FlowSolution solve_flow(const FlowGraph& graph, std::span<const uint64_t> counters,
                        std::span<const CallLoss> losses = {});

/// Whether the edges without counters form a forest, so that there is one solution at most.
bool has_spanning_forest(const FlowGraph& graph);

/// The part of the graph that each node is in: a number that is the same for all nodes that edges
/// without counters connect.
std::vector<uint32_t> flow_parts(const FlowGraph& graph);

}  // namespace respike
