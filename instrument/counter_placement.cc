// Maximum-weight spanning trees over flow graphs.
//
// Flow is conserved at every node, so the counts of a spanning tree's edges follow from the counts
// of all other edges: only these other edges get counters. A heavy tree leaves the light edges to
// the counters. Edges that cannot have a probe enter the tree first; where they close a cycle among
// themselves, the procedure cannot be counted exactly.
//
// Example: block a branches to b or c, and both continue to d. Two counters are enough, in b and in
// c: a and d run as often as b and c together.
//
// An edge that is the only edge on one side of a block has the block's count. If such an edge is
// counted, the probe is in the block, and no branch is added.
//
// The tree must not join a `through` call to outside(). Otherwise the flow that the call lost
// (exit, longjmp) and the flow that the procedure returned to its caller would be in one equation.
// So the lightest edges around such calls get counters although a spanning tree would include them.
// Where edges without probes join a call to outside(), the call is cut.

#include "instrument/counter_placement.h"

#include <algorithm>

#include "optimizer/base/disjoint_sets.h"

namespace respike {
namespace {

using Kind = FlowEdge::Kind;

constexpr double kProbe = 1.0;         // cost of a probe in a block, in executions
constexpr double kProbeOnEdge = 1.4;   // of a probe with a block of its own, which costs branches
constexpr double kSize = 0.04;         // what its size costs, in executions per call
constexpr double kSizeOnTaken = 0.08;  // of a probe on a branch, which makes the branch longer

class Tree {
 public:
  Tree(const Program& program, ProcedureId id, FlowGraph graph, const std::vector<double>& weights,
       const ProbePlaces& places)
      : program_(program),
        procedure_(program[id]),
        graph_(std::move(graph)),
        weights_(weights),
        places_(places),
        parts_(graph_.nodes()),
        calls_(graph_.nodes()) {}

  /// nullopt: edges without probes close a cycle, or join calls to outside(); these calls are put
  /// into `to_cut`.
  std::optional<CounterPlacement> grow(std::vector<bool>& to_cut) {
    count_ways();
    counted_.assign(graph_.edges.size(), false);
    std::vector<std::pair<double, uint32_t>> candidates;
    bool possible = true;
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
      const double cost = cost_of(e);
      if (cost >= 0)
        candidates.emplace_back(-cost, e);
      else if (is_cycle(e))
        return std::nullopt;
      else
        join(e);
    }
    for (BlockId b = 0; b < graph_.blocks; ++b)
      if (is_through_call(b) && parts_.find(graph_.out(b)) == parts_.find(graph_.outside())) {
        to_cut[b] = true;
        possible = false;
      }
    if (!possible) return std::nullopt;
    std::sort(candidates.begin(), candidates.end());
    for (const auto& [negative_cost, e] : candidates) {
      counted_[e] = is_cycle(e) || would_hide_calls(e);
      if (!counted_[e]) join(e);
    }
    return number_counters();
  }

 private:
  bool is_cycle(uint32_t e) {
    return parts_.find(graph_.edges[e].from) == parts_.find(graph_.edges[e].to);
  }
  void join(uint32_t e) {
    const uint32_t a = parts_.find(graph_.edges[e].from), b = parts_.find(graph_.edges[e].to);
    parts_.unite(a, b);
    calls_[b] = calls_[a] || calls_[b];
  }
  bool is_through_call(BlockId b) const {
    return !cut_[b] && is_returning_call(program_, procedure_.blocks[b]);
  }
  /// Whether the edge would join a part with calls to the part of outside().
  bool would_hide_calls(uint32_t e) {
    const uint32_t outside = parts_.find(graph_.outside());
    const uint32_t a = parts_.find(graph_.edges[e].from), b = parts_.find(graph_.edges[e].to);
    return (a == outside && calls_[b]) || (b == outside && calls_[a]);
  }

  void count_ways() {
    ways_in_.assign(graph_.nodes(), 0);
    ways_out_.assign(graph_.nodes(), 0);
    cut_.assign(graph_.blocks, false);
    for (const FlowEdge& edge : graph_.edges) {
      if (edge.kind == Kind::call) cut_[graph_.block_of(edge.from)] = true;
      ++ways_out_[edge.from];
      ++ways_in_[edge.to];
    }
    for (BlockId b = 0; b < graph_.blocks; ++b)
      if (is_through_call(b)) calls_[graph_.out(b)] = true;
  }

  bool is_block_node(uint32_t node) const { return node < graph_.outside(); }
  bool block_counts(uint32_t node) const { return places_.block[graph_.block_of(node)]; }
  /// A block that can be counted and always runs as often as the edge; kNone: there is none.
  BlockId block_for(uint32_t e) const {
    const FlowEdge& edge = graph_.edges[e];
    if (is_block_node(edge.from) && block_counts(edge.from) && ways_out_[edge.from] == 1 &&
        ways_in_[edge.from] == 1)
      return graph_.block_of(edge.from);
    if (is_block_node(edge.to) && block_counts(edge.to) && ways_in_[edge.to] == 1)
      return graph_.block_of(edge.to);
    return kNone;
  }

  /// Expected cost of a probe on the edge; negative: no probe is possible, or a block has the
  /// edge's count.
  double cost_of(uint32_t e) const {
    const FlowEdge& edge = graph_.edges[e];
    const double weight = weights_[e];
    switch (edge.kind) {
      case Kind::block:
        return places_.block[e] ? weight * kProbe + kSize : -1;
      case Kind::fall_through:
        if (!places_.after_block[graph_.block_of(edge.from)]) return -1;
        break;
      case Kind::call_return:
        if (!places_.after_block[graph_.block_of(graph_.edges[e - 1].from)]) return -1;
        break;
      case Kind::taken:
        break;
      default:
        return -1;
    }
    if (block_for(e) != kNone) return -1;
    return weight * kProbeOnEdge + (edge.kind == Kind::taken ? kSizeOnTaken : kSize);
  }

  CounterPlacement number_counters() {
    CounterPlacement result;
    result.blocks.assign(weights_.begin(), weights_.begin() + graph_.blocks);
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
      if (!counted_[e]) continue;
      graph_.edges[e].counter = static_cast<uint32_t>(result.probes.size());
      result.probes.push_back(e);
      result.weights.push_back(weights_[e]);
      result.cost += cost_of(e);
    }
    result.graph = std::move(graph_);
    return result;
  }

  const Program& program_;
  const Procedure& procedure_;
  FlowGraph graph_;
  const std::vector<double>& weights_;
  const ProbePlaces& places_;
  DisjointSets parts_;                        // of nodes, connected by edges without counters
  std::vector<bool> calls_;                   // by part: some through call ends a block of it
  std::vector<bool> cut_;                     // by block: it ends in a call that is cut
  std::vector<uint32_t> ways_in_, ways_out_;  // by node
  std::vector<bool> counted_;                 // by edge
};

}  // namespace

std::optional<CounterPlacement> place_counters(
    const Program& program, ProcedureId procedure, const std::vector<bool>& returns_otherwise,
    bool first_block_entered, const ProbePlaces& places,
    const std::function<std::vector<double>(const FlowGraph&)>& weigh) {
  const auto grow = [&](const FlowGraphOptions& options, std::vector<bool>& to_cut) {
    FlowGraph graph = build_flow_graph(program, procedure, options);
    const std::vector<double> weights = weigh(graph);
    return Tree(program, procedure, std::move(graph), weights, places).grow(to_cut);
  };
  FlowGraphOptions options{.cut_calls = returns_otherwise,
                           .first_block_entered = first_block_entered};
  std::vector<bool> to_cut = returns_otherwise;
  auto result = grow(options, to_cut);
  if (!result && to_cut != returns_otherwise) {
    options.cut_calls = to_cut;
    result = grow(options, to_cut);
  }
  options.cut_all_calls = true;
  auto cut = grow(options, to_cut);
  if (!result || (cut && cut->cost < result->cost)) return cut;
  return result;
}

}  // namespace respike
