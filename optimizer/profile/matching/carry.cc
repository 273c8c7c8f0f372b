// Computes the counts of all blocks and edges from the counts of matched nodes.
//
// A procedure that did not change takes the old counts as they are. Otherwise every block and edge
// gets a wanted count: the count of its partner or, without a partner, an estimate. Estimates flow
// from known counts through unknown blocks by rules of thumb: loops continue, dead ends are not
// taken. Then the cheapest change of the wanted counts makes flow conserved (repair_flow.h). A
// change of a surer count costs more, and flow that enters or leaves the procedure where none did
// before costs much, so that missing flow takes new edges where there are any.
//
// Example: block A (100) fell through to B (100); now A leads to a new block N, and N to B. N and
// its edges have no partners; A's 100 flows through them as their estimate, and the flow is
// conserved.

#include "optimizer/profile/matching/carry.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "optimizer/base/saturating.h"
#include "optimizer/profile/matching/node_graph.h"
#include "optimizer/profile/matching/node_pairs.h"
#include "optimizer/profile/repair_flow.h"

namespace respike {
namespace {

// Prices of changing a count by one.
constexpr uint32_t kPrice[] = {1, 4, 8, 12};  // by Likeness; the first is for estimates
constexpr uint32_t kUsualWay = 4;             // into or out of a procedure, where that is usual
constexpr uint32_t kCallEnds = 12;            // a call that does not return
constexpr uint32_t kOddWay = 30;              // into or out of a procedure anywhere else

constexpr double kLoopGoesOn = 0.88, kDeadEnd = 0.02;
constexpr int kSweeps = 24;

/// Whether the blocks' nodes and the edges are the same, so that counts can be copied.
bool same_shape(const ProcedureProfile& a, const ProcedureProfile& b) {
  return a.signature == b.signature &&
         std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
                    [](const auto& x, const auto& y) { return x.node == y.node; }) &&
         std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(),
                    [](const auto& x, const auto& y) {
                      return x.from == y.from && x.to == y.to && x.kind == y.kind;
                    });
}

void count_calls(ProcedureProfile& procedure) {
  for (auto& call : procedure.calls) call.count = procedure.blocks[call.block].count;
}

class Carrier {
 public:
  explicit Carrier(ProcedureProfile& now)
      : now_(now),
        blocks_(now.blocks.size()),
        edges_(now.edges.size()),
        entries_(blocks_.size()),
        exits_(blocks_.size()),
        out_(blocks_.size()),
        in_(blocks_.size()),
        calls_(blocks_.size()) {
    for (uint32_t e = 0; e < now.edges.size(); ++e) {
      out_[now.edges[e].from].push_back(e);
      in_[now.edges[e].to].push_back(e);
    }
    for (const auto& call : now.calls) calls_[call.block] = true;
    for (BlockId b = 0; b < blocks_.size(); ++b) {
      entries_[b].price = b == 0 || in_[b].empty() ? kUsualWay : kOddWay;
      exits_[b].price = out_[b].empty() ? kUsualWay : calls_[b] ? kCallEnds : kOddWay;
    }
  }

  void want(const ProcedureProfile& before, const NodeGraph& old, const NodeGraph& fresh,
            const std::vector<NodePair>& pairs) {
    want_nodes(fresh, old, pairs);
    want_edges(old, fresh, pairs);
    want_entry(before, fresh);
  }
  void want_calls(uint64_t calls) {
    if (blocks_.empty()) return;
    set(entries_[0], calls, Likeness::same);
    for (size_t b = 1; b < entries_.size(); ++b) set(entries_[b], 0, Likeness::same);
  }

  void run(uint64_t& effort) {
    if (blocks_.empty()) return;
    shift_ = 0;
    for (const auto* list : {&blocks_, &edges_, &entries_, &exits_})
      for (const Wanted& wanted : *list)
        while (wanted.count >> shift_ > kMostWantedFlow >> 8) ++shift_;
    estimate();
    const auto flow = repair(effort);
    if (!flow) return take_estimates();
    for (size_t b = 0; b < blocks_.size(); ++b) now_.blocks[b].count = unshifted((*flow)[b]);
    for (size_t e = 0; e < edges_.size(); ++e)
      now_.edges[e].count = unshifted((*flow)[blocks_.size() + e]);
    count_calls(now_);
  }

 private:
  /// Facts about a count.
  struct Wanted {
    uint64_t count = 0;
    double estimate = 0;  // in units of 2^shift_
    uint32_t price = kPrice[0];
    bool known = false;
  };

  static void set(Wanted& wanted, uint64_t count, Likeness likeness) {
    wanted.count = count;
    wanted.known = true;
    wanted.price = std::max(wanted.price, kPrice[static_cast<size_t>(likeness)]);
  }
  uint64_t unshifted(uint64_t count) const {
    return count > UINT64_MAX >> shift_ ? UINT64_MAX : count << shift_;
  }

  void want_nodes(const NodeGraph& fresh, const NodeGraph& old,
                  const std::vector<NodePair>& pairs) {
    const auto more = [](uint64_t count, uint64_t than) { return count > than ? count - than : 0; };
    for (BlockId b = 0; b < blocks_.size(); ++b) {
      const uint32_t n = now_.blocks[b].node;
      if (n == kNone || pairs[n].before == kNone) continue;
      const NodeGraph::Node &node = fresh.nodes[n], &partner = old.nodes[pairs[n].before];
      const Likeness how = pairs[n].likeness;
      // Flow that entered from outside or left, perhaps through blocks that have no node.
      const uint64_t entered = more(partner.count, partner.in);
      const uint64_t left = more(partner.count, partner.out);
      const bool leaves = b == node.last && node.away == kNone;
      set(blocks_[b], partner.count, how);
      set(entries_[b], b == node.first ? entered : 0, how);
      set(exits_[b], leaves ? left : 0, how);
      if (node.away != kNone) set(edges_[node.away], left, how);
    }
  }

  /// Splits the entry count if the new procedure starts with a block that has no node (it computes
  /// gp), and some callers enter after that block.
  void want_entry(const ProcedureProfile& before, const NodeGraph& fresh) {
    if (now_.blocks.empty() || before.blocks.empty() || now_.blocks[0].node != kNone ||
        out_[0].size() != 1)
      return;
    const uint32_t n = now_.blocks[now_.edges[out_[0][0]].to].node;
    const BlockId first = n == kNone ? kNone : fresh.nodes[n].first;
    if (before.blocks[0].node != kNone || first == kNone || !entries_[first].known) return;
    const uint64_t count = std::min(before.blocks[0].count, entries_[first].count);
    set(blocks_[0], count, Likeness::same);
    set(entries_[0], count, Likeness::same);
    entries_[first].count -= count;
  }

  void want_edges(const NodeGraph& old, const NodeGraph& fresh,
                  const std::vector<NodePair>& pairs) {
    std::unordered_map<uint64_t, uint64_t> counts;  // of arcs of the older build
    const auto key = [](uint32_t from, uint32_t to) { return uint64_t{from} << 32 | to; };
    for (const auto& arc : old.arcs) {
      uint64_t& count = counts[key(arc.from, arc.to)];
      count = saturating_add(count, arc.count);
    }
    for (const auto& arc : fresh.arcs) {
      const NodePair &from = pairs[arc.from], &to = pairs[arc.to];
      if (from.before == kNone || to.before == kNone) continue;
      const auto count = counts.find(key(from.before, to.before));
      if (count == counts.end()) continue;
      set(edges_[arc.edge], count->second, std::min(from.likeness, to.likeness));
      count->second = 0;  // a second arc between these nodes gets no count
    }
  }

  // ---- estimates ----

  /// How likely an edge is, relative to the other edges of its block.
  double chance(uint32_t edge) const {
    const auto& way = now_.edges[edge];
    if (way.kind == ProcedureProfile::Edge::Kind::landing_pad) return kDeadEnd / 10;
    if (way.to <= way.from) return kLoopGoesOn;
    return out_[way.to].empty() && calls_[way.to] ? kDeadEnd : 1 - kLoopGoesOn;
  }

  /// Reverse postorder from the entries.
  std::vector<BlockId> forward_order() const {
    std::vector<BlockId> order;
    std::vector<uint32_t> next(blocks_.size());
    std::vector<bool> seen(blocks_.size());
    std::vector<BlockId> path;
    for (BlockId start = 0; start < blocks_.size(); ++start) {
      if (seen[start]) continue;
      seen[start] = true;
      path.push_back(start);
      const size_t base = order.size();
      while (!path.empty()) {
        const BlockId b = path.back();
        if (next[b] == out_[b].size()) {
          order.push_back(b);
          path.pop_back();
        } else if (const BlockId to = now_.edges[out_[b][next[b]++]].to; !seen[to]) {
          seen[to] = true;
          path.push_back(to);
        }
      }
      std::reverse(order.begin() + static_cast<ptrdiff_t>(base), order.end());
    }
    return order;
  }

  /// Lets known counts flow through blocks and edges without a known count.
  void estimate() {
    for (auto* list : {&blocks_, &edges_, &entries_, &exits_})
      for (Wanted& wanted : *list) wanted.estimate = static_cast<double>(wanted.count >> shift_);
    const std::vector<BlockId> order = forward_order();
    bool changed = true;
    for (int sweep = 0; changed && sweep < kSweeps; ++sweep) {
      changed = false;
      for (const BlockId b : order) changed = estimate_block(b) || changed;
    }
  }

  bool estimate_block(BlockId b) {
    bool changed = false;
    const auto update = [&](Wanted& wanted, double value) {
      changed = changed || std::abs(wanted.estimate - value) > 0.5;
      wanted.estimate = std::min(value, static_cast<double>(kMostWantedFlow >> 4));
    };
    if (!blocks_[b].known) {
      double inflow = entries_[b].estimate;
      for (const uint32_t e : in_[b]) inflow += edges_[e].estimate;
      update(blocks_[b], inflow);
    }
    double rest = blocks_[b].estimate - exits_[b].estimate, chances = 0;
    for (const uint32_t e : out_[b])
      if (edges_[e].known)
        rest -= edges_[e].estimate;
      else
        chances += chance(e);
    for (const uint32_t e : out_[b])
      if (!edges_[e].known) update(edges_[e], std::max(0.0, rest) * chance(e) / chances);
    return changed;
  }

  static uint64_t rounded(double estimate) {
    return std::min(kMostWantedFlow, static_cast<uint64_t>(std::llround(estimate)));
  }

  /// Takes the estimates without flow conservation, when repairing the flow takes too long.
  void take_estimates() {
    for (size_t b = 0; b < blocks_.size(); ++b)
      now_.blocks[b].count = unshifted(rounded(blocks_[b].estimate));
    for (size_t e = 0; e < edges_.size(); ++e)
      now_.edges[e].count = unshifted(rounded(edges_[e].estimate));
    count_calls(now_);
  }

  /// The flow of blocks, edges, entries and exits, in units of 2^shift_.
  std::optional<std::vector<uint64_t>> repair(uint64_t& effort) const {
    const auto in = [](BlockId b) { return 2 * b; };
    const auto out = [](BlockId b) { return 2 * b + 1; };
    const auto outside = static_cast<uint32_t>(2 * blocks_.size());
    std::vector<WantedFlow> flow;
    const auto add = [&](uint32_t from, uint32_t to, const Wanted& wanted) {
      flow.push_back(
          {from, to, rounded(wanted.estimate), wanted.price, wanted.known ? wanted.price : 1});
    };
    for (BlockId b = 0; b < blocks_.size(); ++b) add(in(b), out(b), blocks_[b]);
    for (size_t e = 0; e < edges_.size(); ++e)
      add(out(now_.edges[e].from), in(now_.edges[e].to), edges_[e]);
    for (BlockId b = 0; b < blocks_.size(); ++b) {
      add(outside, in(b), entries_[b]);
      add(out(b), outside, exits_[b]);
    }
    return repair_flow(outside + 1, flow, effort);
  }

  ProcedureProfile& now_;
  std::vector<Wanted> blocks_, edges_, entries_, exits_;
  std::vector<std::vector<uint32_t>> out_, in_;  // edges, by block
  std::vector<bool> calls_;                      // by block
  unsigned shift_ = 0;
};

double executed(const NodeGraph::Node& node) {
  return static_cast<double>(node.count) * node.instructions;
}

}  // namespace

CarriedCounts carry_counts(const ProcedureProfile& before, std::span<const uint32_t> calls_before,
                           ProcedureProfile& now, std::span<const uint32_t> calls_now,
                           uint64_t& effort) {
  const NodeGraph old(before), fresh(now);
  const bool same_graph =
      before.signature == now.signature && before.nodes.size() == now.nodes.size();
  const std::vector<NodePair> pairs =
      same_graph ? pair_same_nodes(old, fresh) : pair_nodes(old, calls_before, fresh, calls_now);
  CarriedCounts result;
  for (const NodeGraph::Node& node : old.nodes) result.weight += executed(node);
  for (const NodePair& pair : pairs)
    if (pair.before != kNone)
      result.sure += executed(old.nodes[pair.before]) * confidence_of(pair.likeness);
  now.exact = false;
  if (same_shape(before, now)) {
    for (size_t b = 0; b < now.blocks.size(); ++b) now.blocks[b].count = before.blocks[b].count;
    for (size_t e = 0; e < now.edges.size(); ++e) now.edges[e].count = before.edges[e].count;
    count_calls(now);
    now.exact = before.exact && before.nodes == now.nodes;
  } else if (before.entered()) {
    Carrier carrier(now);
    carrier.want(before, old, fresh, pairs);
    carrier.run(effort);
  }
  return result;
}

void estimate_counts(ProcedureProfile& procedure, uint64_t calls, uint64_t& effort) {
  procedure.exact = false;
  Carrier carrier(procedure);
  carrier.want_calls(calls);
  carrier.run(effort);
}

}  // namespace respike
