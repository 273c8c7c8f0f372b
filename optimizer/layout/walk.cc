// A random walk shows what no table of counts shows: which pieces of code take turns. A history
// recorded by the program itself would also know phases and correlated branches; a random walk
// costs the program nothing.
//
// The walk should be stationary: when blocks are drawn by their counts, the blocks one step later
// have the same distribution. Edges keep it where flow is conserved in a procedure. Calls keep it
// where all calls of a procedure together, including calls by unknown code, have the procedure's
// count. So an unknown call goes to a procedure that runs more often than its known calls explain,
// drawn by the difference. Where the unknown calls are more than these differences, the rest of the
// unknown calls return at once; where they are fewer, the walk only starts at the rest of the
// entries. A return whose call was not seen goes to the return point of a call of the procedure,
// drawn by the calls' counts, since the walk would have come from there.
//
// Example: f is entered 100 times, 70 times by direct calls. 30 of its entries count as unknown
// calls; a walk that starts in f and returns goes on after a direct call 7 times of 10.

#include "optimizer/layout/walk.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "optimizer/base/random.h"
#include "optimizer/ir/lookup.h"

namespace respike {
namespace {

constexpr uint64_t kWalk = 4096;   // blocks
constexpr size_t kDeepest = 1024;  // calls on the stack that are remembered
constexpr double kGiveUp = 0.01;
constexpr size_t kMany = 1024;                       // edges; fewer are searched linearly
constexpr double kGoldenRatio = 0.6180339887498949;  // its multiples spread evenly modulo 1

/// Draws things with given weights.
class Lottery {
 public:
  void add(double weight, uint32_t prize) {
    if (weight <= 0) return;
    sum_ += weight;
    tickets_.emplace_back(sum_, prize);
  }
  bool empty() const { return tickets_.empty(); }
  double sum() const { return sum_; }
  uint32_t draw(SplitMix64& random) const { return prize_at(random.fraction()); }
  /// `fraction`: at least 0 and below 1, of all weight.
  uint32_t prize_at(double fraction) const {
    const double at = fraction * sum_;
    const auto ticket =
        std::upper_bound(tickets_.begin(), tickets_.end(), at,
                         [](double value, const auto& t) { return value < t.first; });
    return ticket == tickets_.end() ? tickets_.back().second : ticket->second;
  }

 private:
  double sum_ = 0;
  std::vector<std::pair<double, uint32_t>> tickets_;
};

class Walker {
 public:
  Walker(const Program& program, std::span<const CodeCall> calls)
      : program_(program), calls_(calls), numbers_(program) {
    first_call_.assign(numbers_.count(), kNone);
    for (uint32_t c = static_cast<uint32_t>(calls_.size()); c-- > 0;)
      first_call_[numbers_(calls_[c].caller, calls_[c].block)] = c;
    for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
      if (!program[id].movable()) continue;
      for (BlockId b = 0; b < program[id].blocks.size(); ++b)
        starts_.add(as_weight(program[id].blocks[b].count), numbers_(id, b));
    }
    pair_calls_with_callees();
  }

  /// The number of the block where the walk is.
  uint32_t number() const { return numbers_(at_.procedure, at_.block); }

  bool start() {
    stack_.clear();
    if (starts_.empty()) return false;
    start_at_ =
        start_at_ + kGoldenRatio < 1 ? start_at_ + kGoldenRatio : start_at_ + kGoldenRatio - 1;
    std::tie(at_.procedure, at_.block) = numbers_.at(starts_.prize_at(start_at_));
    return true;
  }

  /// Moves to the next block. False: the next block is unknown.
  bool step() {
    const BasicBlock& block = program_[at_.procedure].blocks[at_.block];
    const std::span<const CodeCall> calls = calls_here();
    const bool returns = !calls.empty() && calls.front().returns;
    const Lottery* many = !returns && block.successors.size() > kMany ? &ways_from(block) : nullptr;
    double all = many == nullptr ? 0 : many->sum();
    for (const CodeCall& call : calls) all += as_weight(call.count);
    if (returns && all == 0) return go_behind(calls.front());
    if (!returns && many == nullptr)
      for (const Edge& edge : block.successors) all += as_weight(edge.count);
    if (all == 0) return come_back();
    double chosen = random_.fraction() * all;
    for (const CodeCall& each : calls)
      if ((chosen -= as_weight(each.count)) < 0) return call(each);
    if (many != nullptr && !many->empty()) {
      at_.block = many->draw(random_);
      return true;
    }
    for (const Edge& edge : block.successors)
      if (edge.count != 0) {
        at_.block = edge.target;
        if ((chosen -= as_weight(edge.count)) < 0) break;
      }
    return true;
  }

 private:
  struct Place {
    ProcedureId procedure = kNone;
    BlockId block = kNone;
  };

  static double as_weight(uint64_t count) { return static_cast<double>(count); }

  std::span<const CodeCall> calls_here() const {
    const uint32_t first = first_call_[number()];
    if (first == kNone) return {};
    uint32_t end = first + 1;
    while (end < calls_.size() && calls_[end].caller == at_.procedure &&
           calls_[end].block == at_.block)
      ++end;
    return calls_.subspan(first, end - first);
  }

  void pair_calls_with_callees() {
    returns_to_.resize(program_.procedures.size());
    for (uint32_t c = 0; c < calls_.size(); ++c)
      (calls_[c].known() ? returns_to_[calls_[c].callee] : unknown_calls_)
          .add(as_weight(calls_[c].count), c);
    const std::vector<double> entries = unexplained_entries(program_, calls_);
    for (ProcedureId id = 0; id < entries.size(); ++id) unknown_callees_.add(entries[id], id);
    if (unknown_calls_.empty() || unknown_callees_.empty()) return;
    const double ratio = unknown_callees_.sum() / unknown_calls_.sum();
    reach_ = std::min(1.0, ratio);
    for (ProcedureId id = 0; id < entries.size(); ++id)
      returns_to_[id].add(entries[id] * std::min(1.0, 1 / ratio), kNone);
  }

  /// The edges of the block where the walk is.
  const Lottery& ways_from(const BasicBlock& block) {
    const auto [known, fresh] = ways_.try_emplace(number());
    if (fresh)
      for (const Edge& edge : block.successors)
        known->second.add(as_weight(edge.count), edge.target);
    return known->second;
  }

  bool call(const CodeCall& call) {
    const bool reached = call.known() || random_.fraction() < reach_;
    if (call.returns) {
      if (!reached) return go_behind(call);
      if (stack_.size() == kDeepest) stack_.erase(stack_.begin(), stack_.begin() + kDeepest / 2);
      stack_.push_back(&call);
    }
    if (!reached) return come_back();
    at_ = call.known() ? Place{call.callee, call.entry} : Place{unknown_callees_.draw(random_), 0};
    return program_[at_.procedure].movable() || come_back();
  }

  bool go_behind(const CodeCall& call) {
    const BasicBlock& block = program_[call.caller].blocks[call.block];
    at_ = {call.caller, block.edge(Edge::Kind::fall_through)->target};
    return true;
  }

  bool come_back() {
    if (!stack_.empty()) {
      const CodeCall& call = *stack_.back();
      stack_.pop_back();
      return go_behind(call);
    }
    for (ProcedureId from = at_.procedure;;) {  // once for each tail call
      const Lottery& callers = returns_to_[from];
      if (callers.empty()) return false;
      uint32_t c = callers.draw(random_);
      if (c == kNone) c = unknown_calls_.draw(random_);
      if (calls_[c].returns) return go_behind(calls_[c]);
      from = calls_[c].caller;
      if (random_.fraction() < kGiveUp) return false;  // tail calls may form a circle
    }
  }

  const Program& program_;
  const std::span<const CodeCall> calls_;
  BlockNumbers numbers_;
  std::vector<uint32_t> first_call_;  // by block
  std::vector<Lottery> returns_to_;   // by procedure: calls of it; kNone: some unknown call
  Lottery unknown_calls_, unknown_callees_;
  std::unordered_map<uint32_t, Lottery> ways_;  // by block
  double reach_ = 0;  // the share of the unknown calls that reach unknown callees
  Lottery starts_;
  double start_at_ = 0;
  SplitMix64 random_{1};
  std::vector<const CodeCall*> stack_;
  Place at_;
};

}  // namespace

Trace walk(const Program& program, std::span<const CodeCall> calls, uint64_t blocks) {
  Walker walker(program, calls);
  Trace trace;
  while (blocks != 0 && walker.start()) {
    trace.push_back(kNone);
    uint64_t length = 0;
    do trace.push_back(walker.number());
    while (--blocks != 0 && ++length < kWalk && walker.step());
  }
  return trace;
}

}  // namespace respike
