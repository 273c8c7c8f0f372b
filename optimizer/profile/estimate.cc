// Frequencies from the shape of the flow graph.
//
// Loops are the strongly connected components of the graph. The heads of a loop are the nodes that
// are entered from outside the component; edges from inside the loop to a head lead back. Without
// the edges that lead back, the components inside a loop are its inner loops, and so on. Natural
// loops by dominators are not enough: jumps go through hubs here, and irreducible loops also need
// edges that lead back, since the remaining graph must have no cycle. Then every branch gets a
// probability, and frequencies flow along the remaining edges; the heads of a loop multiply their
// frequency by the expected number of iterations.
//
// The probability of a branch comes from the first heuristic in this list that applies: an edge to
// a dead end is never taken; loops continue (88%); an edge to a block that returns (28%) or calls
// (22%) is avoided. The heuristics of Ball and Larus that look at comparisons and pointers are left
// out.
//
// Example: entry -> H, H -> B (the loop's body) or X (which returns), B -> H. H is the head, B -> H
// leads back. Per call H runs 8 times, B 8 * 0.88 = 7 times, X 8 * 0.12 = 1 time.

#include "optimizer/profile/estimate.h"

#include <algorithm>

#include "optimizer/machine/machine.h"

namespace respike {
namespace {

using Kind = FlowEdge::Kind;

constexpr double kLoopGoesOn = 0.88, kReturn = 0.28, kCall = 0.22, kDeadEnd = 0.002;
constexpr double kIterations = 8;
constexpr double kSideEntry = 0.01;  // entries except the first, such as landing pads, per call
constexpr uint32_t kDeepest = 8;     // nesting of loops; deeper loops count as part of these

class Estimator {
 public:
  Estimator(const Program& program, ProcedureId id, const FlowGraph& graph)
      : program_(program), procedure_(program[id]), graph_(graph) {}

  std::vector<double> run() {
    index_edges();
    find_loops();
    choose_probabilities();
    propagate();
    return std::move(weights_);
  }

 private:
  /// The node that an edge leaves. The return of a cut call counts as an edge from the call's
  /// block, the block that the preceding edge leaves.
  uint32_t source(uint32_t edge) const {
    const FlowEdge& e = graph_.edges[edge];
    return e.kind == Kind::call_return ? graph_.edges[edge - 1].from : e.from;
  }
  bool internal(uint32_t edge) const {
    const FlowEdge& e = graph_.edges[edge];
    return e.to != graph_.outside() && source(edge) != graph_.outside();
  }

  void index_edges() {
    const uint32_t nodes = graph_.nodes();
    first_.assign(nodes + 1, 0);
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) ++first_[source(e) + 1];
    for (uint32_t n = 0; n < nodes; ++n) first_[n + 1] += first_[n];
    out_.resize(graph_.edges.size());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) out_[next[source(e)]++] = e;
    depth_.assign(nodes, 0);
    loop_.assign(nodes, kNone);
    leads_back_.assign(graph_.edges.size(), false);
    head_.assign(nodes, 0);
  }

  void find_loops() {
    std::vector<uint32_t> nodes(graph_.nodes());
    for (uint32_t n = 0; n < nodes.size(); ++n) nodes[n] = n;
    nodes.erase(nodes.begin() + graph_.outside());
    for (uint32_t depth = 0; depth < kDeepest && !nodes.empty(); ++depth) {
      const auto components = strong_components(nodes);
      nodes.clear();
      std::vector<bool> is_head(graph_.nodes(), false);
      for (const auto& component : components)
        for (uint32_t n : component) {
          loop_[n] = next_loop_;
          ++depth_[n];
          if (n == component.back()) ++next_loop_;
        }
      for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
        const uint32_t from = source(e), to = graph_.edges[e].to;
        if (to == graph_.outside() || leads_back_[e] || depth_[to] != depth + 1) continue;
        if (from == graph_.outside() || depth_[from] <= depth || loop_[from] != loop_[to])
          is_head[to] = true;
      }
      for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
        const uint32_t from = source(e), to = graph_.edges[e].to;
        if (from == graph_.outside() || to == graph_.outside()) continue;
        if (is_head[to] && depth_[from] == depth + 1 && loop_[from] == loop_[to])
          leads_back_[e] = true;
      }
      for (const auto& component : components)
        for (uint32_t n : component) {
          if (is_head[n]) head_[n] = 1;
          nodes.push_back(n);
        }
    }
  }

  /// The strongly connected components of more than one node among `nodes`, over edges that do not
  /// lead back. Tarjan's algorithm without recursion.
  std::vector<std::vector<uint32_t>> strong_components(const std::vector<uint32_t>& nodes) {
    std::vector<std::vector<uint32_t>> result;
    number_.assign(graph_.nodes(), 0);
    lowest_.assign(graph_.nodes(), 0);
    std::vector<bool> asked(graph_.nodes()), on_stack(graph_.nodes());
    for (uint32_t n : nodes) asked[n] = true;
    std::vector<uint32_t> stack;
    std::vector<std::pair<uint32_t, uint32_t>> path;  // node, next of out_
    uint32_t count = 0;
    const auto enter = [&](uint32_t n) {
      number_[n] = lowest_[n] = ++count;
      stack.push_back(n);
      on_stack[n] = true;
      path.emplace_back(n, first_[n]);
    };
    for (uint32_t root : nodes) {
      if (number_[root] != 0) continue;
      enter(root);
      while (!path.empty()) {
        auto& [n, next] = path.back();
        if (next < first_[n + 1]) {
          const uint32_t e = out_[next++];
          const uint32_t to = graph_.edges[e].to;
          if (!asked[to] || leads_back_[e] || !internal(e) || loop_[to] != loop_[n]) continue;
          if (number_[to] == 0)
            enter(to);
          else if (on_stack[to])
            lowest_[n] = std::min(lowest_[n], number_[to]);
          continue;
        }
        const uint32_t done = n;
        path.pop_back();
        if (!path.empty())
          lowest_[path.back().first] = std::min(lowest_[path.back().first], lowest_[done]);
        if (lowest_[done] != number_[done]) continue;
        std::vector<uint32_t> component;
        uint32_t member;
        do {
          member = stack.back();
          stack.pop_back();
          on_stack[member] = false;
          component.push_back(member);
        } while (member != done);
        if (component.size() > 1) result.push_back(std::move(component));
      }
    }
    return result;
  }

  enum class Look : uint8_t { plain, returns, calls, dead_end };

  Look look(uint32_t node) const {
    if (node >= graph_.outside()) return Look::plain;
    const BasicBlock& block = procedure_.blocks[graph_.block_of(node)];
    switch (program_.machine->facts(block.instructions.back()).flow) {
      case ControlFlow::return_jump:
        return Look::returns;
      case ControlFlow::stop:
        return Look::dead_end;
      case ControlFlow::call:
      case ControlFlow::indirect_call:
        return block.edge(Edge::Kind::fall_through) == nullptr ? Look::dead_end : Look::calls;
      default:
        return Look::plain;
    }
  }

  bool goes_on(uint32_t e) const {
    const FlowEdge& edge = graph_.edges[e];
    if (edge.to == graph_.outside()) return false;
    return leads_back_[e] || (loop_[edge.to] != kNone && loop_[edge.to] == loop_[edge.from]);
  }

  /// The probability of edge `a` of a block with the two edges `a` and `b`.
  double probability(uint32_t a, uint32_t b) const {
    const Look x = look(graph_.edges[a].to), y = look(graph_.edges[b].to);
    if ((x == Look::dead_end) != (y == Look::dead_end))
      return x == Look::dead_end ? kDeadEnd : 1 - kDeadEnd;
    if (depth_[graph_.edges[a].from] != 0 && goes_on(a) != goes_on(b))
      return goes_on(a) ? kLoopGoesOn : 1 - kLoopGoesOn;
    const auto avoided = [&](Look which, double p) -> double {
      if ((x == which) == (y == which)) return -1;
      return x == which ? p : 1 - p;
    };
    if (const double p = avoided(Look::returns, kReturn); p >= 0) return p;
    if (const double p = avoided(Look::calls, kCall); p >= 0) return p;
    return 0.5;
  }

  void choose_probabilities() {
    probability_.assign(graph_.edges.size(), 0);
    for (uint32_t n = 0; n < graph_.nodes(); ++n) {
      if (n == graph_.outside()) continue;
      std::vector<uint32_t> ways;
      for (uint32_t i = first_[n]; i < first_[n + 1]; ++i) {
        const uint32_t e = out_[i];
        if (graph_.edges[e].kind == Kind::call) continue;  // the return of the call counts instead
        ways.push_back(e);
      }
      if (ways.size() == 2) {
        probability_[ways[0]] = probability(ways[0], ways[1]);
        probability_[ways[1]] = 1 - probability_[ways[0]];
      } else {
        for (uint32_t e : ways) probability_[e] = 1.0 / static_cast<double>(ways.size());
      }
    }
  }

  void propagate() {
    weights_.assign(graph_.edges.size(), 0);
    std::vector<uint32_t> waiting(graph_.nodes(), 0);
    std::vector<double> flow(graph_.nodes(), 0);
    for (uint32_t e = 0; e < graph_.edges.size(); ++e)
      if (internal(e) && !leads_back_[e]) ++waiting[graph_.edges[e].to];
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
      const FlowEdge& edge = graph_.edges[e];
      if (edge.kind != Kind::entry) continue;
      weights_[e] = edge.to == graph_.in(0) ? 1.0 : kSideEntry;
      flow[edge.to] += weights_[e];
    }
    std::vector<uint32_t> ready;
    for (uint32_t n = 0; n < graph_.nodes(); ++n)
      if (waiting[n] == 0 && n != graph_.outside()) ready.push_back(n);
    while (!ready.empty()) {
      const uint32_t n = ready.back();
      ready.pop_back();
      if (head_[n] != 0) flow[n] *= kIterations;
      for (uint32_t i = first_[n]; i < first_[n + 1]; ++i) {
        const uint32_t e = out_[i];
        const FlowEdge& edge = graph_.edges[e];
        weights_[e] = flow[n] * (edge.kind == Kind::call ? 1 : probability_[e]);
        if (edge.to == graph_.outside() || leads_back_[e]) continue;
        flow[edge.to] += weights_[e];
        if (--waiting[edge.to] == 0) ready.push_back(edge.to);
      }
    }
  }

  const Program& program_;
  const Procedure& procedure_;
  const FlowGraph& graph_;
  std::vector<uint32_t> first_, out_;  // the edges of a node: out_[first_[n] .. first_[n + 1])
  std::vector<uint32_t> depth_;        // of loops, by node
  std::vector<uint32_t> loop_;         // innermost, by node
  std::vector<uint8_t> head_;          // of a loop, by node
  uint32_t next_loop_ = 0;
  std::vector<bool> leads_back_;  // by edge
  std::vector<uint32_t> number_, lowest_;
  std::vector<double> probability_, weights_;  // by edge
};

}  // namespace

std::vector<double> estimate_flow(const Program& program, ProcedureId procedure,
                                  const FlowGraph& graph) {
  return Estimator(program, procedure, graph).run();
}

}  // namespace respike
