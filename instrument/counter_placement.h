#pragma once
// The edges of a flow graph that get a counter.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "optimizer/profile/flow_graph.h"

namespace respike {

/// Where probes can be put in a procedure.
struct ProbePlaces {
  std::vector<bool> block;        // by block: somewhere in the block
  std::vector<bool> after_block;  // by block: between the block and its fall-through successor
};

struct CounterPlacement {
  FlowGraph graph;               // with counters 0, 1, ... on its edges
  std::vector<uint32_t> probes;  // per counter: the edge it counts
  std::vector<double> weights;   // per counter: expected executions per call of the procedure
  std::vector<double> blocks;    // by block: expected executions per call of the procedure
  double cost = 0;               // expected executions of probes per call of the procedure
};

/// Puts counters on the edges outside a maximum-weight spanning tree (Knuth, "Optimal measurement
/// points for program frequency counts", BIT 1973; Ball and Larus, "Optimally profiling and tracing
/// programs", TOPLAS 1994), and on the further edges that are needed to notice calls that never
/// return (optimizer/profile/flow_graph.h). `returns_otherwise`, by block: calls that may return
/// more often than they are made. `weigh` gives the weights of a graph: one number per edge.
/// nullopt when some count could not be known: too much of the procedure must stay as it is.
std::optional<CounterPlacement> place_counters(
    const Program& program, ProcedureId procedure, const std::vector<bool>& returns_otherwise,
    bool first_block_entered, const ProbePlaces& places,
    const std::function<std::vector<double>(const FlowGraph&)>& weigh);

}  // namespace respike
