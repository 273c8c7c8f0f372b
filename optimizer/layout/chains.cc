// Greedy chaining.
//
// The value of an edge as a fall-through depends on the block that it leaves. In a block with one
// successor, a fall-through saves the taken jump and the branch instruction. A conditional branch
// jumps on one of its two edges, and the block needs a second branch only when neither successor
// follows. So the fall-through of the rarer edge is worth no more than the cost of the second
// branch: chains end in the back edges of loops, not in their exits.
//
// Example: a block branches to A 90 times and to B 10 times. If neither follows it, it costs 90
// jumps and 10 times a second branch that jumps (2.1 cycles): 111 cycles. If A follows, this saves
// 101, and B would save 21. Another block that always goes on to A, 90 times, saves 189 if A
// follows, and gets A.
//
// A chain is a list in `next_`, identified by its two ends: two chains are joined in constant time.

#include "optimizer/layout/chains.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "optimizer/layout/glued_runs.h"

namespace respike {
namespace {

// Cycles of a jump that is taken and of a branch instruction (model C, models/README.md).
constexpr double kTaken = 1.0;
constexpr double kInstruction = 1.1;

class Chainer {
 public:
  Chainer(const Procedure& procedure, const std::vector<bool>& wanted)
      : procedure_(procedure), runs_(glued_runs(procedure)), run_of_(procedure.blocks.size()) {
    wanted_.resize(runs_.size());
    for (uint32_t r = 0; r < runs_.size(); ++r)
      for (const BlockId block : runs_[r]) {
        run_of_[block] = r;
        if (wanted[block]) wanted_[r] = true;
      }
  }

  std::vector<std::vector<BlockId>> chain() {
    next_.assign(runs_.size(), kNone);
    entered_.resize(runs_.size());
    first_.resize(runs_.size());
    last_.resize(runs_.size());
    for (uint32_t r = 0; r < runs_.size(); ++r) first_[r] = last_[r] = r;
    collect_links();
    for (const Link& link : links_) join(link);
    return in_order();
  }

 private:
  struct Waiting {
    uint64_t pull;
    uint32_t chain;
    /// The top of the queue is the chain with the most pull; of two with equal pull, the lower
    /// number.
    bool operator<(const Waiting& other) const {
      return pull != other.pull ? pull < other.pull : chain > other.chain;
    }
  };
  struct Link {
    double gain;
    bool adjacent;  // a fall-through of the input
    uint32_t from, to;
  };

  /// Whether control may come to the run's first block from the last block of run `from`.
  bool may_follow(uint32_t from, BlockId target) const {
    const uint32_t to = run_of_[target];
    return wanted_[from] && wanted_[to] && from != to && runs_[to].front() == target;
  }

  void collect_links() {
    for (uint32_t r = 0; r < runs_.size(); ++r) {
      if (!wanted_[r]) continue;
      const BasicBlock& block = procedure_.blocks[runs_[r].back()];
      const Edge* fall = block.edge(Edge::Kind::fall_through);
      const Edge* taken = block.edge(Edge::Kind::taken);
      const double falls = fall != nullptr ? static_cast<double>(fall->count) : 0;
      const double jumps = taken != nullptr ? static_cast<double>(taken->count) : 0;
      const bool two_ways = fall != nullptr && taken != nullptr;
      const auto gain = [&](double count, double other) {
        if (!two_ways) return count * (kTaken + kInstruction);
        const double neither =
            std::max(count, other) * kTaken + std::min(count, other) * (kTaken + kInstruction);
        return neither - other * kTaken;
      };
      if (fall != nullptr && may_follow(r, fall->target))
        links_.push_back({gain(falls, jumps), true, r, run_of_[fall->target]});
      if (taken != nullptr && may_follow(r, taken->target))
        links_.push_back({gain(jumps, falls), false, r, run_of_[taken->target]});
    }
    std::stable_sort(links_.begin(), links_.end(), [](const Link& a, const Link& b) {
      return std::tuple(a.gain, a.adjacent) > std::tuple(b.gain, b.adjacent);
    });
  }

  /// Appends the chain that starts at `to` to the chain that ends at `from`, if such chains exist.
  void join(const Link& link) {
    if (next_[link.from] != kNone || entered_[link.to]) return;
    const uint32_t head = first_[link.from], tail = last_[link.to];
    if (head == link.to) return;  // a loop
    next_[link.from] = link.to;
    entered_[link.to] = true;
    first_[tail] = head;
    last_[head] = tail;
  }

  std::vector<std::vector<BlockId>> in_order() const {
    std::vector<uint32_t> heads;
    std::vector<uint32_t> chain_of(runs_.size(), kNone);
    for (uint32_t r = 0; r < runs_.size(); ++r) {
      if (!wanted_[r] || entered_[r]) continue;
      for (uint32_t at = r; at != kNone; at = next_[at])
        chain_of[at] = static_cast<uint32_t>(heads.size());
      heads.push_back(r);
    }
    const uint32_t entry = runs_.empty() ? kNone : chain_of[run_of_[0]];
    std::vector<std::vector<BlockId>> result;
    for (const uint32_t chain : by_pull(ways_between(chain_of, heads.size()), entry)) {
      auto& blocks = result.emplace_back();
      for (uint32_t at = heads[chain]; at != kNone; at = next_[at])
        blocks.insert(blocks.end(), runs_[at].begin(), runs_[at].end());
    }
    return result;
  }

  using Ways = std::vector<std::vector<std::pair<uint32_t, uint64_t>>>;  // by chain: to, count

  Ways ways_between(const std::vector<uint32_t>& chain_of, size_t chains) const {
    Ways ways(chains);
    for (uint32_t r = 0; r < runs_.size(); ++r)
      for (const BlockId block : runs_[r])
        for (const Edge& edge : procedure_.blocks[block].successors) {
          const uint32_t from = chain_of[r], to = chain_of[run_of_[edge.target]];
          if (from != kNone && to != kNone && from != to && edge.count != 0)
            ways[from].emplace_back(to, edge.count);
        }
    return ways;
  }

  /// All chains: `first` (unless it is kNone), then always the chain to which the previous chains
  /// lead most often.
  static std::vector<uint32_t> by_pull(const Ways& ways, uint32_t first) {
    std::vector<uint32_t> order;
    std::vector<uint64_t> pull(ways.size());  // of the chains in `order`
    std::vector<bool> stands(ways.size());
    std::priority_queue<Waiting> waiting;  // with the pull when the entry was made
    const auto stand = [&](uint32_t chain) {
      stands[chain] = true;
      order.push_back(chain);
      for (const auto& [to, count] : ways[chain]) {
        pull[to] += count;
        if (!stands[to]) waiting.push({pull[to], to});
      }
    };
    if (first != kNone) stand(first);
    for (uint32_t next = 0;; ++next) {
      while (!waiting.empty()) {
        const Waiting top = waiting.top();
        waiting.pop();
        if (!stands[top.chain] && pull[top.chain] == top.pull) stand(top.chain);
      }
      while (next < stands.size() && stands[next]) ++next;
      if (next == stands.size()) return order;
      stand(next);
    }
  }

  const Procedure& procedure_;
  const std::vector<std::vector<BlockId>> runs_;
  std::vector<uint32_t> run_of_;  // by block
  std::vector<bool> wanted_;      // by run
  std::vector<Link> links_;
  std::vector<uint32_t> next_;          // by run, in its chain
  std::vector<bool> entered_;           // from the run before it in its chain
  std::vector<uint32_t> first_, last_;  // of a chain; kept at its last and at its first run
};

}  // namespace

std::vector<std::vector<BlockId>> chain_blocks(const Procedure& procedure,
                                               const std::vector<bool>& wanted) {
  return Chainer(procedure, wanted).chain();
}

}  // namespace respike
