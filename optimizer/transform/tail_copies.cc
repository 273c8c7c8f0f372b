// A tail is the way from a block to the end of the procedure: to a return, to a jump to another
// procedure, or to a jump through a table or register. Many paths share tails, as compilers merge
// equal code: one epilogue for all returns, one dispatch for all operations of an interpreter. Only
// one path can fall into a tail, all others jump. A copy of the tail saves the jump, and gives each
// operation a dispatch of its own, so that processors predict the next operation by the last one
// (Ertl and Gregg, "The structure and performance of efficient interpreters", JILP 2003; copying
// tails against jumps: Mueller and Whalley, PLDI 1992).
//
// Example: Lua's operations end in `test; je next`, 20 times, and `next` loads the operation,
// computes its operands and jumps through a table. Each hot operation gets a copy of the 11
// instructions from `next` on, after a `jne trap`.
//
// Candidates are edges from blocks that go to the tail more often than elsewhere: only after these
// blocks would a layout place the copy. The most frequent path keeps the tail itself. Copies are
// made where a byte of copy saves most, until hot code has grown by a few percent, or by less if
// hot code does not fit into the cache: there misses cost more than jumps.
//
// A tail follows conditional branches to their usual side. Their other side, and all code that is
// not copied, leads to the original. A copy does what the original does and leads to the same
// places, so the comparison of input and output (check/same_program.h) needs to know nothing about
// copies.
//
// Limits. Tails with calls are not copied, and neither are jumps with more than kMostTargets
// targets: each copy has all of them.

#include "optimizer/transform/tail_copies.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "optimizer/machine/machine.h"
#include "optimizer/transform/nops.h"

namespace respike {
namespace {

constexpr double kNearlyAlways = 0.8;  // of a conditional branch in a tail
// By how much hot code (see kHotShare) may grow: where it fits into the cache, and where it does
// not.
constexpr double kMostGrowth = 0.06, kMostGrowthOfLargeCode = 0.02;
constexpr size_t kMostTargets = 1024;
constexpr double kHotShare = 0.98;  // of the executed bytes: the hottest blocks with that share

struct Tail {
  std::vector<BlockId> blocks;
  uint64_t bytes = 0;
};

struct Candidate {
  ProcedureId procedure = kNone;
  BlockId from = kNone;
  BlockId tail = kNone;
  double saved = 0;  // cycles for each byte
};

double as_number(uint64_t count) {
  return static_cast<double>(count);
}

/// A part of a count.
uint64_t part_of(uint64_t count, double share) {
  const double part = as_number(count) * share;
  return share >= 1 || part >= as_number(count) ? count : static_cast<uint64_t>(part);
}

bool is_way(const Edge& edge) {
  return edge.kind == Edge::Kind::fall_through || edge.kind == Edge::Kind::taken;
}

uint64_t size_of(const Machine& machine, const BasicBlock& block) {
  return machine.codec.size(block.instructions.span());
}

/// The least count among the hottest blocks, which execute kHotShare of all bytes, and their bytes.
struct HotCode {
  uint64_t least = UINT64_MAX;
  uint64_t bytes = 0;
};

HotCode find_hot_code(const Program& program) {
  std::vector<std::pair<uint64_t, uint64_t>> blocks;  // count, bytes
  double all = 0;
  for (const Procedure& procedure : program.procedures)
    if (procedure.movable())
      for (const BasicBlock& block : procedure.blocks)
        if (block.count != 0) {
          blocks.emplace_back(block.count, size_of(*program.machine, block));
          all += as_number(block.count) * as_number(blocks.back().second);
        }
  std::sort(blocks.rbegin(), blocks.rend());
  HotCode hot;
  double executed = 0;
  for (const auto& [count, bytes] : blocks) {
    if (executed >= kHotShare * all) break;
    executed += as_number(count) * as_number(bytes);
    hot.least = count;
    hot.bytes += bytes;
  }
  return hot;
}

/// Tails of one procedure.
class Tails {
 public:
  Tails(Program& program, ProcedureId id)
      : program_(program),
        machine_(*program.machine),
        procedure_(program[id]),
        id_(id),
        untouchable_(untouchable_blocks(machine_, procedure_)) {}

  void find(uint64_t least, std::vector<Candidate>& candidates) const {
    struct Way {
      BlockId to;
      uint64_t count;
      BlockId from;
    };
    std::vector<Way> ways;  // to each tail, the most frequent first
    for (BlockId b = 0; b < procedure_.blocks.size(); ++b)
      if (const auto edge = favourite(b); edge && edge->count >= least)
        ways.push_back({edge->target, edge->count, b});
    std::sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) {
      return std::tuple(a.to, b.count, a.from) < std::tuple(b.to, a.count, b.from);
    });
    for (size_t i = 1; i < ways.size(); ++i) {
      if (ways[i].to != ways[i - 1].to) continue;
      const auto tail = tail_from(ways[i].to);
      if (!tail) continue;
      const double cycles =
          machine_.costs.taken + (jumps_always(ways[i].from) ? machine_.costs.instruction : 0);
      candidates.push_back({id_, ways[i].from, ways[i].to,
                            as_number(ways[i].count) * cycles / as_number(tail->bytes)});
    }
  }

  /// Copies the tail for one of the blocks that lead to it. Returns the bytes of the copy, or 0.
  uint64_t copy(BlockId from, BlockId to) {
    const auto edge = favourite(from);
    const auto tail = tail_from(to);
    if (!edge || edge->target != to || !tail) return 0;
    uint64_t count = edge->count;
    const auto first = static_cast<BlockId>(procedure_.blocks.size());
    for (Edge& each : procedure_.blocks[from].successors)
      if (is_way(each) && each.target == to) each.target = first;
    for (size_t i = 0; i < tail->blocks.size(); ++i) {
      const BlockId next = i + 1 < tail->blocks.size() ? tail->blocks[i + 1] : kNone;
      count = copy_block(tail->blocks[i], count, next);
    }
    return tail->bytes;
  }

 private:
  /// The edge along which control most often leaves the block, if the edge leads to a tail.
  std::optional<Edge> favourite(BlockId id) const {
    const BasicBlock& block = procedure_.blocks[id];
    if (block.has(BasicBlock::kGluedToNext)) return std::nullopt;
    const Edge* best = nullptr;
    double all = 0;
    for (const Edge& edge : block.successors) {
      if (edge.kind == Edge::Kind::landing_pad) continue;
      if (!is_way(edge)) return std::nullopt;
      if (best != nullptr && best->target == edge.target) return std::nullopt;
      if (best == nullptr || edge.count > best->count) best = &edge;
      all += as_number(edge.count);
    }
    if (best == nullptr || as_number(best->count) < all / 2) return std::nullopt;
    return *best;
  }

  bool jumps_always(BlockId id) const {
    const BasicBlock& block = procedure_.blocks[id];
    return !block.instructions.empty() &&
           machine_.facts(block.instructions.back()).flow == ControlFlow::branch;
  }

  bool may_copy(BlockId id) const {
    const BasicBlock& block = procedure_.blocks[id];
    if (untouchable_[id] || block.instructions.empty()) return false;
    if (block.successors.size() > kMostTargets) return false;
    if (block.has(BasicBlock::kLandingPad) || block.call_site != kNone) return false;
    return std::ranges::none_of(block.instructions, [&](const Instruction& i) {
      if (i.is_pseudo()) return false;
      if (i.opcode == kInvalid || machine_.facts(i).get_pc) return true;
      return i.has_reference() &&
             procedure_.references[static_cast<uint32_t>(i.immediate)].target.where ==
                 CodeLocation::Where::return_point;
    });
  }

  std::optional<Tail> tail_from(BlockId block) const {
    Tail tail;
    while (block != 0 && may_copy(block)) {
      if (std::ranges::find(tail.blocks, block) != tail.blocks.end()) return std::nullopt;
      tail.blocks.push_back(block);
      const BasicBlock& copied = procedure_.blocks[block];
      tail.bytes += size_of(machine_, copied);
      if (tail.bytes > machine_.costs.copied_tail) return std::nullopt;
      const ControlFlow flow = machine_.facts(copied.instructions.back()).flow;
      if (flow == ControlFlow::return_jump || flow == ControlFlow::indirect_jump) return tail;
      const Edge *fall = copied.edge(Edge::Kind::fall_through),
                 *taken = copied.edge(Edge::Kind::taken);
      if (flow == ControlFlow::branch && taken == nullptr) return tail;  // to another procedure
      if (flow == ControlFlow::conditional_branch) {
        if (fall == nullptr || taken == nullptr || fall->target == taken->target)
          return std::nullopt;
        const Edge* most = fall->count >= taken->count ? fall : taken;
        const double all = as_number(fall->count) + as_number(taken->count);
        if (as_number(most->count) < kNearlyAlways * all) return std::nullopt;
        block = most->target;
      } else if (flow == ControlFlow::branch || flow == ControlFlow::none) {
        const Edge* only = taken != nullptr ? taken : fall;
        if (only == nullptr || copied.successors.size() != 1) return std::nullopt;
        block = only->target;
      } else {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// Appends a copy that runs `count` times of the block's count, and leads to the block after the
  /// copy where the original leads to `next`. Returns how often it goes there.
  uint64_t copy_block(BlockId id, uint64_t count, BlockId next) {
    BasicBlock copied = procedure_.blocks[id];
    BasicBlock& original = procedure_.blocks[id];
    count = std::min(count, original.count);
    const double share = original.count == 0 ? 0 : as_number(count) / as_number(original.count);
    copied.instructions.assign(*program_.arena, original.instructions.span());
    copied.successors.assign(*program_.arena, original.successors.span());
    copied.flags &= ~unsigned{BasicBlock::kEntry | BasicBlock::kAddressTaken};
    for (Instruction& i : copied.instructions)
      if (i.has_reference()) {
        procedure_.references.push_back(
            Reference(procedure_.references[static_cast<uint32_t>(i.immediate)]));
        i.immediate = static_cast<int32_t>(procedure_.references.size() - 1);
      }
    copied.count = count;
    original.count -= count;
    uint64_t goes_on = 0;
    for (size_t e = 0; e < copied.successors.size(); ++e) {
      Edge& edge = copied.successors[e];
      edge.count = part_of(edge.count, share);
      original.successors[e].count -= edge.count;
      if (!is_way(edge) || edge.target != next) continue;
      edge.target = static_cast<BlockId>(procedure_.blocks.size() + 1);
      goes_on = edge.count;
    }
    for (JumpTable& table : procedure_.jump_tables)
      if (table.jump == id) table.jump = kNone;  // the copy also uses the table
    procedure_.blocks.push_back(copied);
    untouchable_.push_back(false);
    return goes_on;
  }

  Program& program_;
  const Machine& machine_;
  Procedure& procedure_;
  const ProcedureId id_;
  std::vector<bool> untouchable_;  // by block
};

}  // namespace

TailCopies copy_tails(Program& program) {
  TailCopies result;
  if (program.machine->costs.copied_tail == 0) return result;
  const HotCode hot = find_hot_code(program);
  std::vector<Candidate> candidates;
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    if (program[id].movable())
      Tails(program, id).find(std::max<uint64_t>(hot.least, 1), candidates);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.saved > b.saved; });
  const CacheShape& cache = program.machine->icache;
  const bool fits = hot.bytes <= uint64_t{cache.line} * cache.sets * cache.ways;
  const double most = (fits ? kMostGrowth : kMostGrowthOfLargeCode) * as_number(hot.bytes);
  std::unordered_map<ProcedureId, Tails> tails;
  for (const Candidate& each : candidates) {
    if (as_number(result.bytes) >= most) break;
    Tails& of_procedure = tails.try_emplace(each.procedure, program, each.procedure).first->second;
    const uint64_t bytes = of_procedure.copy(each.from, each.tail);
    result.tails += bytes != 0;
    result.bytes += bytes;
  }
  return result;
}

}  // namespace respike
