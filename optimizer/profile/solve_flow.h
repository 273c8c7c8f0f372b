#pragma once
// Solves the counts of all edges of a flow graph from its counters.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/profile/flow_graph.h"

namespace respike {

/// How often the through call at the end of a block did not return. Negative: it returned more
/// often than it was made.
struct CallLoss {
  BlockId block = kNone;
  int64_t amount = 0;
  bool operator==(const CallLoss&) const = default;
};

struct FlowSolution {
  /// By edge, modulo 2^64: a negative count is above 2^63.
  std::vector<uint64_t> counts;

  /// A part with more inflow than outflow: calls in the part lost `amount` in all. `node` is a node
  /// of the part (flow_parts()).
  struct Imbalance {
    uint32_t node = kNone;
    int64_t amount = 0;
  };
  std::vector<Imbalance> imbalances;

  /// false: counts are meaningless, since the edges without counters have cycles.
  bool solvable = true;

  bool balanced() const { return solvable && imbalances.empty(); }
};

/// Solves the equations "as much flows into a node as out of it". `counters` holds every counter
/// that the graph names, with any values. Takes linear time.
FlowSolution solve_flow(const FlowGraph& graph, std::span<const uint64_t> counters,
                        std::span<const CallLoss> losses = {});

/// Whether the edges without counters form a forest, so that there is at most one solution.
bool has_spanning_forest(const FlowGraph& graph);

/// The part of each node: a number that is equal for nodes that edges without counters connect.
std::vector<uint32_t> flow_parts(const FlowGraph& graph);

}  // namespace respike
