// Finds the conserved flow that is closest to given counts.
//
// Every edge has a wanted count, and a price per unit of difference, upwards and downwards. The
// cheapest conserved flow is a minimum-cost flow (Levin, Newman and Haber, "Complementing missing
// and inaccurate profiling using a minimum cost circulation algorithm", HiPEAC 2008). An edge
// becomes two arcs: the first carries the wanted count, and its reverse costs `down`; the second is
// unlimited and costs `up`. At first all edges carry their wanted counts. Then nodes with more
// inflow than outflow send their surplus to nodes with a deficit, along the cheapest residual
// paths.
//
// Example: A -> B wants 10, B -> C wants 7, C -> A wants 10, all prices are 1. B has a surplus of
// 3, C a deficit of 3. The cheapest path sends 3 more along B -> C: cost 3, all edges carry 10.
//
// The algorithm is primal-dual (Ahuja, Magnanti and Orlin, "Network Flows", 9.8): the distances
// from all surplus nodes give reduced costs; Dinic's algorithm sends a maximum flow along arcs of
// reduced cost 0; then distances are computed again. The distance to the nearest deficit grows each
// time. If every node can reach a common node for a small price, the distance never grows beyond
// twice that price: a few rounds of almost linear time, and none when all counts fit. If no count
// fits, only the square of the size bounds a round, so the caller limits the effort.

#include "optimizer/profile/repair_flow.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <queue>

namespace respike {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;
constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;

class Repair {
 public:
  Repair(uint32_t nodes, std::span<const WantedFlow> edges, uint64_t& effort)
      : edges_(edges), effort_(effort), surplus_(nodes) {
    arcs_.reserve(4 * edges.size());
    for (const WantedFlow& edge : edges) {
      assert(edge.from < nodes && edge.to < nodes && edge.wanted <= kMostWantedFlow);
      const auto wanted = static_cast<int64_t>(edge.wanted);
      add_arc(edge.from, edge.to, 0, wanted, -int64_t{edge.down});
      add_arc(edge.from, edge.to, kUnlimited, 0, edge.up);
      surplus_[edge.to] += wanted;
      surplus_[edge.from] -= wanted;
    }
    index_arcs();
    price_.assign(nodes, 0);
  }

  std::optional<std::vector<uint64_t>> run() {
    while (effort_ != 0 && find_distances()) send_flow();
    if (effort_ == 0) return std::nullopt;
    std::vector<uint64_t> flow;
    flow.reserve(edges_.size());
    for (size_t e = 0; e < edges_.size(); ++e)  // residual capacity of the reverse arcs
      flow.push_back(static_cast<uint64_t>(arcs_[4 * e + 1].left + arcs_[4 * e + 3].left));
    return flow;
  }

 private:
  struct Arc {
    uint32_t to;
    int64_t left;  // residual capacity
    int64_t cost;
  };

  void spend(uint64_t steps) { effort_ -= std::min(effort_, steps); }

  /// Adds an arc with an even number, and its reverse with the next number.
  void add_arc(uint32_t from, uint32_t to, int64_t left, int64_t taken, int64_t cost) {
    arcs_.push_back({to, left, cost});
    arcs_.push_back({from, taken, -cost});
  }
  uint32_t from(uint32_t arc) const { return arcs_[arc ^ 1].to; }

  void index_arcs() {
    first_.assign(surplus_.size() + 1, 0);
    for (uint32_t a = 0; a < arcs_.size(); ++a) ++first_[from(a) + 1];
    for (size_t v = 0; v + 1 < first_.size(); ++v) first_[v + 1] += first_[v];
    out_.resize(arcs_.size());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (uint32_t a = 0; a < arcs_.size(); ++a) out_[next[from(a)]++] = a;
  }

  int64_t reduced_cost(uint32_t arc) const {
    return arcs_[arc].cost + price_[from(arc)] - price_[arcs_[arc].to];
  }

  /// Dijkstra's algorithm from all nodes with a surplus; adds the distances to the nodes' prices.
  /// False: no node has a surplus.
  bool find_distances() {
    distance_.assign(surplus_.size(), kFar);
    using Entry = std::pair<int64_t, uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (uint32_t v = 0; v < surplus_.size(); ++v)
      if (surplus_[v] > 0) {
        distance_[v] = 0;
        queue.push({0, v});
      }
    if (queue.empty()) return false;
    int64_t nearest = kFar;  // distance of the nearest node with a deficit; farther ones can wait
    while (!queue.empty()) {
      const auto [distance, v] = queue.top();
      queue.pop();
      if (distance > nearest) break;
      if (distance != distance_[v]) continue;
      if (surplus_[v] < 0) nearest = distance;
      spend(first_[v + 1] - first_[v]);
      for (uint32_t i = first_[v]; i < first_[v + 1]; ++i) {
        const Arc& arc = arcs_[out_[i]];
        if (arc.left == 0) continue;
        const int64_t length = distance + reduced_cost(out_[i]);
        if (length >= distance_[arc.to]) continue;
        distance_[arc.to] = length;
        queue.push({length, arc.to});
      }
    }
    assert(nearest != kFar);  // holds since the zero flow is also conserved
    for (uint32_t v = 0; v < surplus_.size(); ++v) price_[v] += std::min(distance_[v], nearest);
    return true;
  }

  bool admissible(uint32_t arc) const { return arcs_[arc].left != 0 && reduced_cost(arc) == 0; }

  /// Sends as much flow as possible along arcs of reduced cost 0.
  void send_flow() {
    while (effort_ != 0 && find_levels()) {
      current_.assign(first_.begin(), first_.end() - 1);
      for (uint32_t v = 0; v < surplus_.size(); ++v)
        if (surplus_[v] > 0) send_from(v);
    }
  }

  /// Numbers nodes breadth-first from all surplus nodes. False: no node with a deficit is reached.
  bool find_levels() {
    level_.assign(surplus_.size(), 0);
    std::vector<uint32_t> queue;
    for (uint32_t v = 0; v < surplus_.size(); ++v)
      if (surplus_[v] > 0) {
        level_[v] = 1;
        queue.push_back(v);
      }
    bool found = false;
    for (size_t i = 0; i < queue.size(); ++i) {
      const uint32_t v = queue[i];
      found = found || surplus_[v] < 0;
      spend(first_[v + 1] - first_[v]);
      for (uint32_t k = first_[v]; k < first_[v + 1]; ++k) {
        const uint32_t to = arcs_[out_[k]].to;
        if (level_[to] != 0 || !admissible(out_[k])) continue;
        level_[to] = level_[v] + 1;
        queue.push_back(to);
      }
    }
    return found;
  }

  /// Sends a node's surplus through the levels, depth-first; without recursion, since paths are
  /// long.
  void send_from(uint32_t source) {
    struct Step {
      uint32_t node;
      int64_t available;  // flow that reaches this node
      int64_t sent = 0;   // part of it that found a deficit
    };
    std::vector<Step> path = {{source, surplus_[source]}};
    for (;; spend(1)) {
      Step& step = path.back();
      const uint32_t v = step.node;
      if (surplus_[v] < 0) {
        const int64_t amount = std::min(step.available - step.sent, -surplus_[v]);
        surplus_[v] += amount;
        step.sent += amount;
      }
      const bool dead_end = current_[v] == first_[v + 1];
      if (dead_end || step.sent == step.available) {
        const int64_t sent = step.sent;
        path.pop_back();
        if (path.empty()) {
          surplus_[source] -= sent;
          return;
        }
        path.back().sent += sent;
        uint32_t& current = current_[path.back().node];
        arcs_[out_[current]].left -= sent;
        arcs_[out_[current] ^ 1].left += sent;
        if (dead_end) ++current;
        continue;
      }
      const uint32_t arc = out_[current_[v]];
      const uint32_t to = arcs_[arc].to;
      if (level_[to] == level_[v] + 1 && admissible(arc))
        path.push_back({to, std::min(step.available - step.sent, arcs_[arc].left)});
      else
        ++current_[v];
    }
  }

  std::span<const WantedFlow> edges_;
  uint64_t& effort_;
  std::vector<int64_t> surplus_;  // by node: inflow less outflow
  std::vector<Arc> arcs_;
  std::vector<uint32_t> first_, out_;  // arcs by the node they leave
  std::vector<int64_t> price_, distance_;
  std::vector<uint32_t> level_, current_;
};

}  // namespace

std::optional<std::vector<uint64_t>> repair_flow(uint32_t nodes, std::span<const WantedFlow> edges,
                                                 uint64_t& effort) {
  return Repair(nodes, edges, effort).run();
}

}  // namespace respike
