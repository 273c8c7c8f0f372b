// A random walk has the frequencies of the counts, and it has what no table of counts has: an idea
// of which pieces of code take turns. A history recorded by the program itself would know phases
// and correlated branches, too; this one costs the program nothing.

#include "optimizer/layout/walk.h"

#include <algorithm>
#include <vector>

#include "optimizer/base/random.h"

namespace respike {
namespace {

constexpr uint64_t kWalk = 4096;   // blocks
constexpr size_t kDeepest = 1024;  // calls that are remembered

/// Draws things with given weights.
class Lottery {
 public:
  void add(uint64_t weight, uint32_t prize) {
    if (weight == 0) return;
    sum_ += static_cast<double>(weight);
    tickets_.emplace_back(sum_, prize);
  }
  bool empty() const { return tickets_.empty(); }
  uint32_t draw(SplitMix64& random) const {
    const double at = random.fraction() * sum_;
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
      : program_(program), calls_(calls) {
    uint32_t blocks = 0;
    for (const Procedure& procedure : program.procedures) {
      first_.push_back(blocks);
      blocks += static_cast<uint32_t>(procedure.blocks.size());
    }
    call_at_.assign(blocks, kNone);
    returns_to_.resize(program.procedures.size());
    for (uint32_t c = 0; c < calls_.size(); ++c) {
      const CodeCall& call = calls_[c];
      call_at_[first_[call.caller] + call.block] = c;
      if (call.returns) returns_to_[call.callee].add(block_of(call).count, c);
    }
    for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
      if (!program[id].movable()) continue;
      for (BlockId b = 0; b < program[id].blocks.size(); ++b)
        starts_.add(program[id].blocks[b].count, first_[id] + b);
    }
  }

  bool start() {
    stack_.clear();
    if (starts_.empty()) return false;
    const uint32_t block = starts_.draw(random_);
    at_.procedure = static_cast<ProcedureId>(std::upper_bound(first_.begin(), first_.end(), block) -
                                             first_.begin() - 1);
    at_.block = block - first_[at_.procedure];
    return true;
  }

  struct Place {
    ProcedureId procedure = kNone;
    BlockId block = kNone;
  };
  const Place& at() const { return at_; }

  /// false: nobody knows how it goes on.
  bool step() {
    const BasicBlock& block = program_[at_.procedure].blocks[at_.block];
    if (const uint32_t c = call_at_[first_[at_.procedure] + at_.block]; c != kNone) {
      const CodeCall& call = calls_[c];
      if (call.returns || block.successors.empty()) {
        if (call.returns) {
          if (stack_.size() == kDeepest)
            stack_.erase(stack_.begin(), stack_.begin() + kDeepest / 2);
          stack_.push_back(c);
        }
        at_ = {call.callee, call.entry};
        return program_[at_.procedure].movable() || come_back();
      }
    }
    uint64_t all = 0;
    for (const Edge& edge : block.successors) all += edge.count;
    if (all == 0) return come_back();
    uint64_t chosen = random_.next() % all;
    for (const Edge& edge : block.successors) {
      if (chosen < edge.count) {
        at_.block = edge.target;
        return true;
      }
      chosen -= edge.count;
    }
    return false;
  }

 private:
  const BasicBlock& block_of(const CodeCall& call) const {
    return program_[call.caller].blocks[call.block];
  }

  bool come_back() {
    uint32_t c;
    if (!stack_.empty()) {
      c = stack_.back();
      stack_.pop_back();
    } else if (const Lottery& callers = returns_to_[at_.procedure]; !callers.empty()) {
      c = callers.draw(random_);
    } else {
      return false;
    }
    at_ = {calls_[c].caller, block_of(calls_[c]).edge(Edge::Kind::fall_through)->target};
    return true;
  }

  const Program& program_;
  const std::span<const CodeCall> calls_;
  std::vector<uint32_t> first_;      // by procedure, of its blocks
  std::vector<uint32_t> call_at_;    // by block
  std::vector<Lottery> returns_to_;  // by procedure: calls of it
  Lottery starts_;
  SplitMix64 random_{1};
  std::vector<uint32_t> stack_;  // calls
  Place at_;
};

}  // namespace

void walk(const Program& program, std::span<const CodeCall> calls, uint64_t steps,
          const std::function<void(ProcedureId, BlockId)>& visit,
          const std::function<void()>& cut) {
  Walker walker(program, calls);
  for (uint64_t done = 0; done < steps;) {
    if (!walker.start()) return;
    cut();
    uint64_t length = 0;
    do {
      visit(walker.at().procedure, walker.at().block);
      ++done;
    } while (++length < kWalk && done < steps && walker.step());
  }
}

}  // namespace respike
