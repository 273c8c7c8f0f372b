#pragma once
// Solving dataflow equations with a worklist.
//
// A problem has a function that computes the value of a node anew from the values of other nodes,
// and says whether the value changed. If it did, the nodes that depend on it are due again. Each
// round takes the due nodes in an order that follows the flow, so most values are final after the
// first round. Values that can change at most h times make a node due at most h times per edge, so
// for bit vectors the time is linear in the edges for every graph.
// Source: Aho, Sethi, Ullman: Compilers, sections 10.5 and 10.9.

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/analysis/block_graph.h"

namespace respike {

/// Nodes that are due, each at most once. They are taken round after round in a given order; a node
/// that becomes due after the present place is taken in the same round.
class Worklist {
 public:
  /// `order`: every node once. `due`: whether all nodes are due at first, or none.
  Worklist(std::vector<uint32_t> order, bool due)
      : order_(std::move(order)),
        rank_(order_.size()),
        due_(order_.size() / 64 + 1),
        groups_(due_.size() / 64 + 1) {
    for (uint32_t rank = 0; rank < order_.size(); ++rank) rank_[order_[rank]] = rank;
    if (due)
      for (const uint32_t node : order_) push(node);
  }

  void push(uint32_t node) {
    const uint32_t rank = rank_[node];
    due_[rank / 64] |= uint64_t{1} << rank % 64;
    groups_[rank / 4096] |= uint64_t{1} << rank / 64 % 64;
  }

  /// Takes the next due node; kNone when no node is due.
  uint32_t pop() {
    uint32_t rank = next(next_);
    if (rank == kNone) rank = next(0);
    if (rank == kNone) return kNone;
    next_ = rank + 1;
    uint64_t& word = due_[rank / 64];
    word &= ~(uint64_t{1} << rank % 64);
    if (word == 0) groups_[rank / 4096] &= ~(uint64_t{1} << rank / 64 % 64);
    return order_[rank];
  }

 private:
  /// The first rank from `from` on that is due.
  uint32_t next(uint32_t from) const {
    if (from / 64 >= due_.size()) return kNone;
    const uint64_t rest = due_[from / 64] >> from % 64;
    if (rest != 0) return from + static_cast<uint32_t>(std::countr_zero(rest));
    size_t word = from / 64 + 1;  // of due_
    for (size_t group = word / 64; group < groups_.size(); ++group, word = 64 * group) {
      const uint64_t words = groups_[group] >> word % 64;
      if (words == 0) continue;
      word += static_cast<size_t>(std::countr_zero(words));
      return static_cast<uint32_t>(64 * word + static_cast<size_t>(std::countr_zero(due_[word])));
    }
    return kNone;
  }

  std::vector<uint32_t> order_, rank_;
  std::vector<uint64_t> due_;     // a bit per rank
  std::vector<uint64_t> groups_;  // a bit per word of due_: whether the word is not 0
  uint32_t next_ = 0;
};

/// Evaluates due nodes until no node is due. evaluate(node) -> bool: whether the value changed;
/// for_each_dependent(node, push) calls push(other) for every node whose value depends on `node`.
/// Both may push more due nodes to `work`.
template <typename Evaluate, typename Dependents>
void solve(Worklist& work, Evaluate evaluate, Dependents for_each_dependent) {
  const auto push = [&](uint32_t node) { work.push(node); };
  for (uint32_t node = work.pop(); node != kNone; node = work.pop())
    if (evaluate(node)) for_each_dependent(node, push);
}

enum class Direction { forward, backward };

/// The values at both ends of every block of a procedure: `before` at its start, `after` at its
/// end, in both directions of the analysis.
template <typename Value>
struct BlockValues {
  std::vector<Value> before, after;
};

/// A problem on the flow graph of one procedure:
///   Value start()            the neutral element of the meet; Value has ==
///   Value initial(block)     the value from outside of the graph, at the start of the block
///                            (forward) or its end (backward); start() if there is none
///   void meet(Value& into, const Value& from, BlockId source, BlockId block)
///   Value transfer(block, Value)    through the block
/// If values only move in one direction of the lattice, and finitely often, the result is the
/// extreme solution.
template <Direction direction, typename Problem>
auto solve_blocks(const BlockGraph& graph, const Problem& problem) {
  using Value = decltype(problem.start());
  constexpr bool forward = direction == Direction::forward;
  const size_t blocks = graph.successors.size();
  BlockValues<Value> values;
  values.before.assign(blocks, problem.start());
  values.after.assign(blocks, problem.start());
  auto& in = forward ? values.before : values.after;
  auto& out = forward ? values.after : values.before;
  const Adjacency& sources = forward ? graph.predecessors : graph.successors;
  const Adjacency& dependents = forward ? graph.successors : graph.predecessors;
  std::vector<uint32_t> order = graph.postorder;
  if (forward) order.assign(graph.postorder.rbegin(), graph.postorder.rend());
  Worklist work(std::move(order), true);
  std::vector<bool> evaluated(blocks);
  solve(
      work,
      [&](uint32_t block) {
        Value value = problem.initial(block);
        for (const uint32_t source : sources[block])
          problem.meet(value, out[source], source, block);
        in[block] = value;
        Value result = problem.transfer(block, std::move(value));
        if (evaluated[block] && result == out[block]) return false;
        evaluated[block] = true;
        out[block] = std::move(result);
        return true;
      },
      [&](uint32_t block, auto push) {
        for (const uint32_t other : dependents[block]) push(other);
      });
  return values;
}

}  // namespace respike
