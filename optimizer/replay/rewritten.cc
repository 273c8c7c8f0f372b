// The emitter's own record is not trusted here. The comparison that proves an output right
// (check/same_program.h) walks both programs in lockstep, and the pairs of blocks that it visits
// say what runs where. Each pair is a cut in the output's code; the code from one cut up to the
// next runs the block of the input.
//
// Example: the input's block 7 falls through into block 8, and the output has both in a row at
// 0x120000480, 12 and 8 bytes long, then a branch. The comparison enters 7 at 0x120000480 and 8 at
// 0x12000048c, so there are two pieces; the branch belongs to the second piece.
//
// Counts are found in the same way: an edge of the output runs as often as the edges of the input's
// block that lead to the same place, through branches that only the output has.

#include "optimizer/replay/rewritten.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "optimizer/base/equal_span.h"
#include "optimizer/base/error.h"
#include "optimizer/base/saturating.h"
#include "optimizer/check/broken_rules.h"
#include "optimizer/check/invariants.h"
#include "optimizer/image/provenance.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machine.h"
#include "optimizer/profile/annotate.h"
#include "optimizer/replay/changes.h"

namespace respike {
namespace {

/// Compares `before`, changed as the output's note says, with `after`.
std::optional<std::string> compare(RewrittenProgram& both, const std::optional<Provenance>& note,
                                   CompareCounts* counts, std::vector<BlockPair>* pairs) {
  if (note)
    if (auto fault = follow_changes(both.before, *note, &both.splits)) return fault;
  for (const Program* program : {&both.before, &both.after})
    if (const auto violation = find_violation(*program)) return violation;
  return find_difference(both.before, both.after, counts, nullptr, pairs);
}

/// Finds the pieces of the output, and its counts, from the pairs of blocks.
class Follower {
 public:
  Follower(RewrittenProgram& both, const std::vector<BlockPair>& pairs)
      : both_(both),
        before_(both.before),
        after_(both.after),
        before_numbers_(both.before),
        after_numbers_(both.after),
        partners_(before_numbers_.count()),
        last_(after_numbers_.count()) {
    for (const SplitProcedure& split : both.splits) splits_.emplace(split.procedure, &split);
    cuts_.reserve(pairs.size());
    for (const BlockPair& pair : pairs)
      cuts_.push_back({.after = after_numbers_(pair.after_procedure, pair.after_block),
                       .index = pair.after_index,
                       .procedure = pair.procedure,
                       .block = pair.block});
    std::ranges::sort(
        cuts_, {}, [](const Cut& c) { return std::tuple(c.after, c.index, c.procedure, c.block); });
    for (const Cut& cut : cuts_)
      partners_[before_numbers_(cut.procedure, cut.block)].push_back(cut.after);
  }

  void run() {
    for (const CodeRange& range : after_.ranges) {
      Cut running;  // the block that the code before runs, if control falls through
      for (BlockId b = range.first_block; b < range.end_block; ++b)
        running = cut_up(range.procedure, b, running);
    }
    std::ranges::sort(both_.pieces, {}, &CodePiece::address);
    for (ProcedureId id = 0; id < after_.procedures.size(); ++id)
      for (BlockId b = 0; b < after_[id].blocks.size(); ++b) count_edges(id, b);
    count_entries();
    for (const auto& [procedure, block] : passed_) count_passed(procedure, block);
  }

 private:
  /// The instruction of the output's block `after` at which the input's block begins.
  struct Cut {
    uint32_t after = kNone;  // number of the block
    uint32_t index = 0;
    ProcedureId procedure = kNone;
    BlockId block = kNone;
  };

  /// An edge of the output.
  struct Way {
    Edge* edge = nullptr;
    bool taken = false;  // an edge of the input leads to the same place
  };

  std::span<const Cut> cuts_of(uint32_t after) const {
    return equal_span(cuts_, after, &Cut::after);
  }

  /// Makes the pieces of a block of the output; returns the cut that runs after the block.
  Cut cut_up(ProcedureId procedure, BlockId id, const Cut& running) {
    BasicBlock& block = after_[procedure].blocks[id];
    const uint32_t number = after_numbers_(procedure, id);
    const auto cuts = cuts_of(number);
    Cut current = cuts.empty() || !does_nothing(block, cuts.front().index) ? running : Cut();
    if (current.procedure != kNone || cuts.empty())
      add_piece(procedure, block, 0, cuts.empty() ? ~uint32_t{0} : cuts.front().index, current);
    if (current.procedure != kNone) block.count = count_of(current);
    for (size_t i = 0; i < cuts.size();) {
      size_t next = i + 1;
      while (next < cuts.size() && cuts[next].index == cuts[i].index) ++next;
      const bool first = i == 0 && current.procedure == kNone;
      add_piece(procedure, block, first ? 0 : cuts[i].index,
                next < cuts.size() ? cuts[next].index : ~uint32_t{0}, cuts[i]);
      uint64_t count = 0;
      for (size_t same = i; same < next; ++same)
        count = saturating_add(count, count_of(cuts[same]));
      both_.pieces.back().count = count;
      if (first) block.count = count;
      current = cuts[i];
      i = next;
    }
    last_[number] = current;
    const bool goes_on = block.successors.size() == 1 &&
                         block.edge(Edge::Kind::fall_through) != nullptr &&
                         after_.machine->facts(block.instructions.back()).flow == ControlFlow::none;
    return goes_on ? current : Cut();
  }

  /// Whether the instructions before `index` are no-ops.
  bool does_nothing(const BasicBlock& block, uint32_t index) const {
    const auto list = block.instructions.span().first(index);
    return std::ranges::all_of(list, [&](const Instruction& i) {
      return i.is_pseudo() || (i.opcode != kInvalid && after_.machine->facts(i).nop);
    });
  }

  uint64_t count_of(const Cut& cut) const {
    return cut.procedure == kNone ? 0 : before_[cut.procedure].blocks[cut.block].count;
  }

  /// The address of the instruction `index` of the block, or of the block's end.
  uint64_t address_of(const BasicBlock& block, uint32_t index) const {
    for (; index < block.instructions.size(); ++index)
      if (!block.instructions[index].is_pseudo())
        return after_.origin_base + block.instructions[index].origin;
    return after_.address_of(block) + block.origin_size;
  }

  /// Adds the instructions [first, end) of a block.
  void add_piece(ProcedureId procedure, const BasicBlock& block, uint32_t first, uint32_t end,
                 const Cut& cut) {
    CodePiece piece;
    piece.address = first == 0 ? after_.address_of(block) : address_of(block, first);
    piece.size = address_of(block, end) - piece.address;
    piece.count = count_of(cut);
    piece.procedure = cut.procedure;
    piece.block = cut.block;
    piece.after_procedure = procedure;
    const auto split = splits_.find(cut.procedure);
    if (split != splits_.end() && cut.block < split->second->blocks.size()) {
      const SplitProcedure::Block& made = split->second->blocks[cut.block];
      piece.part = made.part;
      piece.block = made.original;
    }
    both_.pieces.push_back(piece);
  }

  /// The blocks of the output in which control comes to rest after it enters `block` of the input.
  std::span<const uint32_t> rests_of(ProcedureId procedure, BlockId block) const {
    for (int steps = 0; steps < kLongWay; ++steps) {
      const auto& found = partners_[before_numbers_(procedure, block)];
      const auto& edges = before_[procedure].blocks[block].successors;
      if (!found.empty() || edges.size() != 1) return found;
      block = edges[0].target;
    }
    return {};
  }

  /// Whether control comes from the start of `block` of the output to the block with the number
  /// `goal` through blocks that only lead on.
  bool leads_to(ProcedureId procedure, BlockId block, uint32_t goal) const {
    for (int steps = 0; steps < kLongWay; ++steps) {
      const uint32_t number = after_numbers_(procedure, block);
      if (number == goal) return true;
      const auto& edges = after_[procedure].blocks[block].successors;
      if (!cuts_of(number).empty() || edges.size() != 1) return false;
      block = edges[0].target;
    }
    return false;
  }

  static bool by_exception(const Edge& edge) { return edge.kind == Edge::Kind::landing_pad; }

  /// How often control goes on after a block of the output, other than by exceptions: less often
  /// than the block runs where a call does not return.
  uint64_t leaving(const BasicBlock& block, const Cut& from) const {
    const auto& list = block.instructions.span();
    const bool calls = !list.empty() && !list.back().is_pseudo() &&
                       is_call(after_.machine->facts(list.back()).flow);
    if (!calls) return count_of(from);
    uint64_t sum = 0;
    for (const Edge& edge : before_[from.procedure].blocks[from.block].successors)
      if (!by_exception(edge)) sum = saturating_add(sum, edge.count);
    return std::min(sum, count_of(from));
  }

  static bool is_call(ControlFlow flow) {
    return flow == ControlFlow::call || flow == ControlFlow::indirect_call;
  }

  /// Counts the edges of a block of the output. Control that takes no edge of the input takes the
  /// only edge that is left: out of the procedure, or on within the input's block.
  void count_edges(ProcedureId procedure, BlockId id) {
    BasicBlock& block = after_[procedure].blocks[id];
    const Cut& from = last_[after_numbers_(procedure, id)];
    if (from.procedure == kNone || block.successors.empty()) return;
    uint64_t rest = leaving(block, from);
    std::vector<Way> ways;
    for (Edge& edge : block.successors) ways.push_back({&edge});
    for (const Edge& edge : before_[from.procedure].blocks[from.block].successors)
      for (const uint32_t goal : rests_of(from.procedure, edge.target)) {
        if (!count_way(procedure, ways, goal, edge)) continue;
        if (!by_exception(edge)) rest -= std::min(rest, edge.count);
        break;
      }
    std::erase_if(ways, [](const Way& way) { return way.taken || by_exception(*way.edge); });
    if (ways.size() == 1) count_edge(procedure, *ways.front().edge, rest);
  }

  /// Procedures whose first block only leads on are entered as often as the input's procedures of
  /// the same names.
  void count_entries() {
    std::unordered_map<std::string_view, ProcedureId> by_name;
    for (ProcedureId id = 0; id < before_.procedures.size(); ++id)
      by_name.emplace(before_[id].name, id);
    for (ProcedureId id = 0; id < after_.procedures.size(); ++id) {
      const auto same = by_name.find(after_[id].name);
      if (same != by_name.end() && cuts_of(after_numbers_(id, 0)).empty())
        pass(id, 0, before_[same->second].blocks[0].count);
    }
  }

  /// Counts the edge by which control comes to `goal`, as `before`, an edge of the input, does.
  /// Where several edges lead to `goal`, as entries of one jump table do, it is unknown which of
  /// them ran.
  bool count_way(ProcedureId procedure, std::vector<Way>& ways, uint32_t goal, const Edge& before) {
    Way* found = nullptr;
    for (Way& way : ways)
      if (by_exception(*way.edge) == by_exception(before) && (!found || found->taken) &&
          leads_to(procedure, way.edge->target, goal))
        found = &way;
    if (found == nullptr) return false;
    found->taken = true;
    count_edge(procedure, *found->edge, before.count);
    return true;
  }

  void count_edge(ProcedureId procedure, Edge& edge, uint64_t count) {
    edge.count = saturating_add(edge.count, count);
    pass(procedure, edge.target, count);
  }

  /// Counts the blocks that only lead on, from `block` to the next block that does more.
  void pass(ProcedureId procedure, BlockId block, uint64_t count) {
    for (int steps = 0; steps < kLongWay; ++steps) {
      if (!cuts_of(after_numbers_(procedure, block)).empty()) return;
      passed_[{procedure, block}] += count;
      const auto& edges = after_[procedure].blocks[block].successors;
      if (edges.size() != 1) return;
      block = edges[0].target;
    }
  }

  /// Blocks that only lead on run as often as control passes them.
  void count_passed(const std::pair<ProcedureId, BlockId>& place, uint64_t count) {
    const auto& [procedure, id] = place;
    BasicBlock& block = after_[procedure].blocks[id];
    if (block.count != 0) return;
    block.count = count;
    if (block.successors.size() == 1) block.successors[0].count = count;
    const uint64_t address = after_.address_of(block);
    const auto piece = std::ranges::lower_bound(both_.pieces, address, {}, &CodePiece::address);
    if (piece != both_.pieces.end() && piece->address == address) piece->count = count;
  }

  static constexpr int kLongWay = 16;  // blocks

  RewrittenProgram& both_;
  const Program& before_;
  Program& after_;
  const BlockNumbers before_numbers_, after_numbers_;
  std::unordered_map<ProcedureId, const SplitProcedure*> splits_;
  std::vector<Cut> cuts_;                        // by place
  std::vector<std::vector<uint32_t>> partners_;  // per block of `before`: blocks of `after`
  std::vector<Cut> last_;                        // per block of `after`: what its end runs
  std::map<std::pair<ProcedureId, BlockId>, uint64_t> passed_;  // blocks of `after`
};

/// Throws Error, or returns a difference, where there is nothing to compare.
std::optional<std::string> find_obstacle(const Image& before, const Image& after) {
  if (before.machine != after.machine) return "the images are for different machines";
  require_rewritable(before);
  if (is_instrumented(after))
    throw Error(
        "an instrumented image cannot be compared: its probes are code that the original does not "
        "have",
        after.path);
  require_rewritable(after);
  return find_broken_rule(before, after);
}

RewrittenProgram lift_both(const Image& before, const Image& after, Diagnostics& diagnostics,
                           const Progress& progress = {}) {
  Steps steps(progress);
  RewrittenProgram both;
  steps.begin("lift the original", 0.0);
  both.before = lift(before, diagnostics);
  steps.begin("lift the output", 0.35);
  both.after = lift(after, diagnostics);
  steps.begin("compare", 0.7);
  return both;
}

}  // namespace

RewrittenProgram follow_rewriting(const Image& before, const Image& after, const Profile* profile,
                                  Diagnostics& diagnostics) {
  auto difference = find_obstacle(before, after);
  if (difference) throw Error(*difference, after.path);
  RewrittenProgram both = lift_both(before, after, diagnostics);
  if (profile != nullptr) apply_profile(both.before, *profile, diagnostics);
  std::vector<BlockPair> pairs;
  difference = compare(both, read_provenance(after), nullptr, &pairs);
  if (difference) throw Error(*difference, after.path);
  std::ranges::sort(both.splits, {}, &SplitProcedure::procedure);
  Follower(both, pairs).run();
  return both;
}

std::optional<std::string> verify_images(const Image& before, const Image& after,
                                         Diagnostics& diagnostics, CompareCounts* counts,
                                         const Progress& progress) {
  if (auto obstacle = find_obstacle(before, after)) return obstacle;
  RewrittenProgram both = lift_both(before, after, diagnostics, progress);
  const auto note = read_provenance(after);
  auto difference = compare(both, note, counts, nullptr);
  if (difference && !note) *difference += fmt::format("; it has no {} of Respike", kNoteSection);
  return difference;
}

}  // namespace respike
