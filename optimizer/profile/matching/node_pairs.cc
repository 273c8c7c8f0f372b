// Matching the blocks of a changed procedure.
//
// The most certain pairs come first: two nodes are a pair when their key occurs exactly once in
// each build. The keys are, in this order: the strict hash of a node with those of its neighbours;
// only the strict hash; the loose hash with those of its neighbours; the called procedure, even if
// the code before the call changed. (Calls are strong anchors, since symbols name the callees.
// Levels and order are those of Ayupov, Panchenko and Pupyrev, "Stale profile matching", CC 2024,
// section 3.)
//
// After the strict hashes come the cases of large switches: the n-th words of two tables lead to a
// pair, however the code there was compiled, unless other words lead to the same node. This keeps
// the profile of interpreters when the compiler or its options change: a table of labels (`goto
// *labels[op]`) and a jump table (`switch (op)`) have the same order.
//
// Pairs spread to neighbours: among the free successors (and the free predecessors) of both nodes
// of a pair, nodes with the same loose hash and callee are pairs. This distinguishes repeated code,
// such as the same error check after every call. Free nodes are then aligned in the order of their
// numbers: by the shortest edit script over loose hashes, in which each pair is a token of its own.
// Last, if both nodes of a pair have exactly one free successor, the two successors are a pair
// (likewise predecessors): changed code at the same place.
//
// Example: A -> B -> C became A -> B' -> C; A and C kept their hashes, which are unique. A and C
// are pairs by their hashes; B and B' are the only free successors of the pair A: a pair of
// likeness `placed`.

#include "optimizer/profile/matching/node_pairs.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "optimizer/profile/matching/sequence_diff.h"

namespace respike {
namespace {

constexpr size_t kMostNeighbours = 64;  // nodes with more neighbours, such as jump tables, spread
                                        // no pairs

template <size_t N>
uint64_t mixed(const std::array<uint64_t, N>& values) {
  uint8_t bytes[8 * N];
  for (size_t i = 0; i < N; ++i) store(bytes + 8 * i, values[i]);
  return hash64(bytes);
}

/// The procedure in one build: its graph, and the callee by node.
struct Side {
  const NodeGraph& graph;
  std::span<const uint32_t> calls;

  const NodeHash& hash(uint32_t node) const { return graph.nodes[node].hash; }
  /// Keys of a node: its hash and its callee.
  uint64_t strict(uint32_t node) const { return uint64_t{calls[node]} << 16 | hash(node).strict; }
  uint64_t loose(uint32_t node) const { return uint64_t{calls[node]} << 16 | hash(node).loose; }

  /// A key of a node and its neighbours, whose order does not matter.
  template <typename Of>
  uint64_t around(uint32_t node, Of of) const {
    uint64_t after = 0, before = 0;
    for (const auto& arc : graph.successors(node)) after += mixed<1>({of(arc.to)});
    for (const uint32_t arc : graph.predecessors(node))
      before += mixed<1>({of(graph.arcs[arc].from)});
    return mixed<3>({of(node), after, before});
  }
};

class Pairing {
 public:
  Pairing(const Side& before, const Side& now)
      : before_(before),
        now_(now),
        pairs_(now.graph.nodes.size()),
        taken_(before.graph.nodes.size(), kNone) {}

  std::vector<NodePair> run() {
    if (!pairs_.empty() && !taken_.empty()) add(0, 0);  // the entries
    pair_unique([](const Side& side, uint32_t n) {
      return side.around(n, [&](uint32_t node) { return side.strict(node); });
    });
    pair_unique([](const Side& side, uint32_t n) {
      return side.graph.nodes[n].instructions < 2 ? 0 : mixed<1>({side.strict(n)});
    });
    pair_switches();
    pair_unique([](const Side& side, uint32_t n) {
      return side.around(n, [&](uint32_t node) { return side.loose(node); });
    });
    pair_unique([](const Side& side, uint32_t n) { return uint64_t{side.calls[n]}; });
    spread(Likeness::kind);
    pair_in_order();
    spread(Likeness::kind);
    spread(Likeness::placed);
    return std::move(pairs_);
  }

 private:
  bool free_now(uint32_t node) const { return pairs_[node].before == kNone; }
  bool free_before(uint32_t node) const { return taken_[node] == kNone; }

  Likeness likeness(uint32_t before, uint32_t now) const {
    const NodeHash &a = before_.hash(before), &b = now_.hash(now);
    return a.strict == b.strict && a.loose == b.loose ? Likeness::same
           : a.loose == b.loose                       ? Likeness::kind
                                                      : Likeness::placed;
  }

  void add(uint32_t before, uint32_t now, Likeness least = Likeness::placed) {
    pairs_[now] = {before, std::max(likeness(before, now), least)};
    taken_[before] = now;
    work_.push_back(now);
  }

  /// Pairs free nodes whose key occurs exactly once among the free nodes of each build; 0 is no
  /// key.
  template <typename Key>
  void pair_unique(Key key) {
    struct Place {
      uint32_t before = kNone, now = kNone;
      bool several = false;
      void put(uint32_t& place, uint32_t node) {
        several = several || place != kNone;
        place = node;
      }
    };
    std::unordered_map<uint64_t, Place> places;
    for (uint32_t n = 0; n < taken_.size(); ++n)
      if (const uint64_t k = free_before(n) ? key(before_, n) : 0; k != 0)
        places[k].put(places[k].before, n);
    for (uint32_t n = 0; n < pairs_.size(); ++n)
      if (const uint64_t k = free_now(n) ? key(now_, n) : 0; k != 0)
        if (const auto place = places.find(k); place != places.end())
          place->second.put(place->second.now, n);
    for (uint32_t n = 0; n < pairs_.size(); ++n) {  // an order that does not depend on the map
      const uint64_t k = free_now(n) ? key(now_, n) : 0;
      const auto place = k == 0 ? places.end() : places.find(k);
      if (place != places.end() && !place->second.several && place->second.now == n &&
          place->second.before != kNone)
        add(place->second.before, n);
    }
  }

  using Nodes = std::vector<uint32_t>;

  /// Pairs the cases of switches: first of switches of equal length, in their order, if both builds
  /// have as many; then of the only other switch, if each build has one.
  void pair_switches() {
    std::map<size_t, std::pair<std::vector<const Nodes*>, std::vector<const Nodes*>>> by_length;
    for (const Nodes& table : before_.graph.switches)
      by_length[table.size()].first.push_back(&table);
    for (const Nodes& table : now_.graph.switches) by_length[table.size()].second.push_back(&table);
    std::vector<const Nodes*> left_before, left_now;
    for (const auto& [length, tables] : by_length) {
      const auto& [before, now] = tables;
      const bool same = before.size() == now.size();
      for (size_t i = 0; same && i < now.size(); ++i) pair_cases(*before[i], *now[i]);
      if (same) continue;
      left_before.insert(left_before.end(), before.begin(), before.end());
      left_now.insert(left_now.end(), now.begin(), now.end());
    }
    if (left_before.size() == 1 && left_now.size() == 1)
      pair_cases_in_order(*left_before[0], *left_now[0]);
  }

  /// Pairs the cases of switches to which cases were added or from which cases were removed. If two
  /// cases of the same kind of code have equally many cases between them in both builds, these are
  /// pairs; so are the cases after the last such case. Example: a switch whose last case became one
  /// of the default.
  void pair_cases_in_order(const Nodes& before, const Nodes& now) {
    const auto kinds = [](const Side& side, const Nodes& table) {
      std::vector<uint64_t> result;
      for (const uint32_t node : table) result.push_back(node == kNone ? 0 : side.loose(node));
      return result;
    };
    const auto same = common_subsequence(kinds(before_, before), kinds(now_, now));
    const size_t rest = std::min(before.size() - (same.empty() ? 0 : same.back().first + 1),
                                 now.size() - (same.empty() ? 0 : same.back().second + 1));
    Nodes from, to;
    size_t a = 0, b = 0;
    for (const auto& [x, y] : same) {
      for (size_t i = 0; x - a == y - b && a + i < x; ++i) {
        from.push_back(before[a + i]);
        to.push_back(now[b + i]);
      }
      from.push_back(before[x]);
      to.push_back(now[y]);
      a = x + 1;
      b = y + 1;
    }
    from.insert(from.end(), before.begin() + static_cast<ptrdiff_t>(a),
                before.begin() + static_cast<ptrdiff_t>(a + rest));
    to.insert(to.end(), now.begin() + static_cast<ptrdiff_t>(b),
              now.begin() + static_cast<ptrdiff_t>(b + rest));
    pair_cases(from, to);
  }

  void pair_cases(const Nodes& before, const Nodes& now) {
    const auto words_of = [](const Nodes& table) {
      std::unordered_map<uint32_t, uint32_t> words;
      for (const uint32_t node : table) ++words[node];
      return words;
    };
    const auto words_before = words_of(before), words_now = words_of(now);
    for (size_t word = 0; word < now.size(); ++word) {
      const uint32_t a = before[word], b = now[word];
      if (a == kNone || b == kNone || words_before.at(a) != 1 || words_now.at(b) != 1) continue;
      if (free_before(a) && free_now(b)) add(a, b, Likeness::kind);
    }
  }

  static Nodes neighbours(const NodeGraph& graph, uint32_t node, bool after) {
    Nodes result;
    if (after)
      for (const auto& arc : graph.successors(node)) result.push_back(arc.to);
    else
      for (const uint32_t arc : graph.predecessors(node)) result.push_back(graph.arcs[arc].from);
    if (result.size() > kMostNeighbours) result.clear();
    return result;
  }

  /// Whether the node may be a changed version of the other: the same number of successors, and
  /// both or neither call.
  bool may_stand_for(uint32_t before, uint32_t now) const {
    const auto &a = before_.graph.nodes[before], &b = now_.graph.nodes[now];
    return a.calls == b.calls &&
           before_.graph.successors(before).size() == now_.graph.successors(now).size();
  }

  void pair_neighbours(const Nodes& before, const Nodes& now, Likeness least) {
    uint32_t left_before = 0, left_now = 0;
    for (const uint32_t b : now) {
      if (!free_now(b)) continue;
      uint32_t best = kNone;
      Likeness how = Likeness::none;
      for (const uint32_t a : before) {
        if (!free_before(a) || likeness(a, b) <= how) continue;
        how = likeness(a, b);
        best = a;
      }
      if (how >= Likeness::kind && before_.calls[best] == now_.calls[b]) add(best, b);
    }
    if (least != Likeness::placed) return;
    uint32_t a = kNone, b = kNone;
    for (const uint32_t node : before)
      if (free_before(node) && node != a) a = node, ++left_before;
    for (const uint32_t node : now)
      if (free_now(node) && node != b) b = node, ++left_now;
    if (left_before == 1 && left_now == 1 && may_stand_for(a, b)) add(a, b);
  }

  /// Pairs the neighbours of pairs, then the neighbours of these new pairs, and so on.
  void spread(Likeness least) {
    work_.clear();
    for (uint32_t n = 0; n < pairs_.size(); ++n)
      if (!free_now(n)) work_.push_back(n);
    for (size_t i = 0; i < work_.size(); ++i) {
      const uint32_t now = work_[i], before = pairs_[now].before;
      for (const bool after : {true, false})
        pair_neighbours(neighbours(before_.graph, before, after),
                        neighbours(now_.graph, now, after), least);
    }
  }

  void pair_in_order() {
    constexpr uint64_t kPair = uint64_t{1} << 63;
    std::vector<uint64_t> a(taken_.size()), b(pairs_.size());
    for (uint32_t n = 0; n < a.size(); ++n)
      a[n] = free_before(n) ? before_.loose(n) : kPair | taken_[n];
    for (uint32_t n = 0; n < b.size(); ++n) b[n] = free_now(n) ? now_.loose(n) : kPair | n;
    for (const auto& [before, now] : common_subsequence(a, b))
      if (free_before(before) && free_now(now)) add(before, now);
  }

  Side before_, now_;
  std::vector<NodePair> pairs_;  // by node of now_
  std::vector<uint32_t> taken_;  // by node of before_: the node's partner
  std::vector<uint32_t> work_;   // nodes of now_ whose neighbours may be paired
};

}  // namespace

double confidence_of(Likeness likeness) {
  constexpr double kConfidence[] = {0, 0.6, 0.9, 1};
  return kConfidence[static_cast<size_t>(likeness)];
}

std::vector<NodePair> pair_nodes(const NodeGraph& before, std::span<const uint32_t> calls_before,
                                 const NodeGraph& now, std::span<const uint32_t> calls_now) {
  return Pairing({before, calls_before}, {now, calls_now}).run();
}

std::vector<NodePair> pair_same_nodes(const NodeGraph& before, const NodeGraph& now) {
  std::vector<NodePair> pairs(now.nodes.size());
  for (uint32_t n = 0; n < pairs.size() && n < before.nodes.size(); ++n) {
    const NodeHash &a = before.nodes[n].hash, &b = now.nodes[n].hash;
    pairs[n] = {n, a == b               ? Likeness::same
                   : a.loose == b.loose ? Likeness::kind
                                        : Likeness::placed};
  }
  return pairs;
}

double likeness_of(const ProcedureProfile& before, const ProcedureProfile& now) {
  const auto sorted = [](const ProcedureProfile& procedure) {
    std::vector<uint16_t> hashes;
    for (const NodeHash& node : procedure.nodes) hashes.push_back(node.loose);
    std::sort(hashes.begin(), hashes.end());
    return hashes;
  };
  const auto a = sorted(before), b = sorted(now);
  std::vector<uint16_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const size_t all = a.size() + b.size() - both.size();
  return all == 0 ? 1 : static_cast<double>(both.size()) / static_cast<double>(all);
}

}  // namespace respike
