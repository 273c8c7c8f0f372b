// Hot-cold optimization, procedure by procedure.
//
// A procedure that runs often and has both hot and cold blocks is taken apart (region.h): its hot
// blocks become the hot procedure (hot_procedure.h). Control leaves the hot procedure for the cold
// part and never comes back. Then each optimization makes the hot procedure shorter at the expense
// of the stubs on the edges to the cold part. The optimizer tries several lines between hot and
// cold: less hot code may need fewer instructions, but control leaves it more often. The line that
// saves the most executed instructions, minus those of stubs, wins, and the hot procedure replaces
// the hot blocks of the original (commit.h). A procedure stays as it is where nothing is saved, and
// where the proof that it does the same as before (check/hot_cold_proof.h) fails.
//
// Example: `if (error) report(); return x + 1;` saves the return address at the entry. The call of
// report() is cold, so the save moves to the stub before it, and the restore goes.
//
// The order of optimizations: decided branches go first, with the code to which only they led. Then
// computations that only cold code needs, since they may keep registers busy; then saves, for which
// registers are renamed; then the copies that the renaming makes needless. Last come adjustments of
// the stack pointer, when its other uses are gone.
//
// There are two rounds. Warm blocks need instructions that the hottest blocks do not need; but warm
// blocks also gain from losing instructions that only cold blocks need. So the first round draws a
// low line; the second round separates the hottest part of a hot procedure from the rest of it.
//
// One liveness solution of the whole program serves all rounds. That is sound because an edit never
// adds a read of a register at a procedure's border, never changes a live register that the
// procedure preserved, and never moves a value across a call that may change it. After a round the
// registers of the changed procedures' new blocks are solved again, with the old facts about
// callers and callees.

#include "optimizer/transform/hotcold/hot_cold.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "optimizer/check/hot_cold_proof.h"
#include "optimizer/machine/machine.h"
#include "optimizer/transform/hotcold/caught_faults.h"
#include "optimizer/transform/hotcold/copies.h"
#include "optimizer/transform/hotcold/decided_branches.h"
#include "optimizer/transform/hotcold/region.h"
#include "optimizer/transform/hotcold/saved_registers.h"
#include "optimizer/transform/hotcold/slot_accesses.h"
#include "optimizer/transform/hotcold/stack_adjust.h"

namespace respike {
namespace {

using Category = HotColdNote::Category;

/// The cost of entering a stub besides its own instructions, in instructions: the branch at its
/// end, and fetching code elsewhere. Found by experiment.
constexpr uint64_t kCostOfLeaving = 4;

bool is_plain(const FrameShape& shape) {
  return shape.regular && !shape.frame_pointer;
}

bool is_optimized(const HotColdNote& note) {
  return note.category == Category::optimized;
}

uint64_t executed_by(const Procedure& procedure) {
  uint64_t sum = 0;
  for (const BasicBlock& block : procedure.blocks)
    for (const Instruction& i : block.instructions) sum += i.is_pseudo() ? 0 : block.count;
  return sum;
}

uint64_t size_of(const Procedure& procedure) {
  uint64_t size = 0;
  for (const BasicBlock& block : procedure.blocks)
    for (const Instruction& i : block.instructions) size += i.is_pseudo() ? 0 : 1;
  return size;
}

constexpr const char* kNoStandard = "it follows no calling standard";
constexpr const char* kFaultsAreCaught = "an instruction that is no call may throw";

/// Runs the rounds in order.
class HotColdOptimizer {
 public:
  HotColdOptimizer(Program& program, const HotColdOptions& options, std::optional<CallGraph> calls)
      : program_(program),
        options_(options),
        calls_(calls ? std::move(*calls) : CallGraph(program)),
        flow_(program, calls_),
        taken_(program),
        caught_faults_(program) {}

  /// Runs a round. `last`: the result of the previous rounds.
  HotColdResult run(size_t round, const HotColdResult& last) {
    result_ = {};
    std::vector<bool> is_changed(program_.procedures.size(), round == 0);
    for (const HotColdNote& note : last.notes) is_changed[note.procedure] = is_optimized(note);
    const std::vector<double>& shares = options_.cold_shares[round];
    std::vector<double> new_shares;  // shares that the last round did not try
    for (const double share : shares)
      if (round == 0 || std::ranges::count(options_.cold_shares[round - 1], share) == 0)
        new_shares.push_back(share);
    result_.parts.emplace_back();
    std::vector<uint64_t> executed;
    for (const Procedure& procedure : program_.procedures) {
      executed.push_back(executed_by(procedure));
      result_.executed += executed.back();
    }
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
      if (executed[id] == 0) continue;
      HotColdNote note;
      note.procedure = id;
      note.name = program_[id].name;
      note.executed = executed[id];
      note.instructions = size_of(program_[id]);
      note.leaf = std::ranges::none_of(
          calls_.calls_of(id), [](const Call& call) { return call.kind == Call::Kind::call; });
      if (static_cast<double>(executed[id]) >=
          options_.least_share * static_cast<double>(result_.executed))
        optimize(note, is_changed[id] ? shares : new_shares);
      result_.notes.push_back(std::move(note));
    }
    if (round + 1 < options_.cold_shares.size()) update(result_.parts.back());
    return std::move(result_);
  }

  std::optional<std::string> split_alike(const std::vector<HotPart>& parts,
                                         std::vector<SplitProcedure>* splits) {
    for (const HotPart& part : parts) {
      const Procedure& procedure = program_[part.procedure];
      const auto says = [&](std::string_view what) {
        return fmt::format("the hot part of {} cannot be told: {}", procedure.name, what);
      };
      if (!procedure.movable()) return says("it is " + procedure.reason);
      if (procedure.nonstandard) return says(kNoStandard);
      if (caught_faults_.concern(procedure)) return says(kFaultsAreCaught);
      std::vector<bool> wanted(procedure.blocks.size());
      for (const BlockId block : part.blocks) {
        if (block >= wanted.size()) return says("it has no such blocks");
        wanted[block] = true;
      }
      auto found = find_region(program_, part.procedure, calls_, taken_, std::move(wanted));
      if (const auto* none = std::get_if<NoRegion>(&found)) return says(none->reason);
      const Candidate candidate = make_candidate(std::move(std::get<Region>(found)));
      CommittedBlocks committed;
      if (const auto fault = commit_proven(candidate, committed)) return says(*fault);
      if (splits != nullptr) note_split(candidate, committed, *splits);
    }
    update(parts);
    return std::nullopt;
  }

 private:
  /// A hot procedure that could replace hot blocks.
  struct Candidate {
    Region region;
    HotProcedure hot;
    HotColdRemoved removed;
    uint64_t gain = 0;  // executed instructions
  };

  void optimize(HotColdNote& note, const std::vector<double>& shares) {
    const ProcedureId id = note.procedure;
    note.category = Category::not_provable;
    note.reason = program_[id].reason;
    if (!program_[id].movable()) return;
    if (program_[id].nonstandard) {
      note.reason = kNoStandard;
      return;
    }
    if (caught_faults_.concern(program_[id])) {
      note.reason = kFaultsAreCaught;
      return;
    }
    std::optional<Candidate> best;
    size_t size = 0;  // of the region tried last
    for (const double share : shares) {
      auto found =
          find_region(program_, id, calls_, taken_, frequent_blocks(program_, id, calls_, share));
      if (const auto* none = std::get_if<NoRegion>(&found)) {
        if (size != 0) continue;
        note.category = none->split ? Category::not_provable : Category::no_split;
        note.reason = none->reason;
        continue;
      }
      Region& region = std::get<Region>(found);
      if (region.hot.size() == size) continue;
      size = region.hot.size();
      Candidate candidate = make_candidate(std::move(region));
      note.category =
          is_plain(candidate.hot.shape) ? Category::no_advantage : Category::sp_modified;
      note.reason.clear();
      if (candidate.gain > (best ? best->gain : 0)) best = std::move(candidate);
    }
    const double least =
        std::min(options_.least_gain * static_cast<double>(note.executed),
                 options_.least_gain_of_all * static_cast<double>(result_.executed));
    if (best && static_cast<double>(best->gain) >= least) replace(note, *best);
  }

  static void note_split(const Candidate& candidate, const CommittedBlocks& committed,
                         std::vector<SplitProcedure>& splits) {
    using Part = SplitProcedure::Part;
    const Region& region = candidate.region;
    auto split = std::ranges::find(splits, region.procedure, &SplitProcedure::procedure);
    if (split == splits.end()) {
      splits.push_back({.procedure = region.procedure, .blocks = {}, .removed = {}});
      split = splits.end() - 1;
      for (BlockId b = 0; b < region.is_hot.size(); ++b)
        split->blocks.push_back({.part = Part::cold, .original = b});
    }
    split->removed += candidate.removed;
    for (BlockId b = 0; b < region.is_hot.size(); ++b)
      if (region.is_hot[b])
        split->blocks[b].part = Part::hot;
      else if (split->blocks[b].part == Part::hot)
        split->blocks[b].part = Part::cold;
    for (BlockId b = static_cast<BlockId>(region.is_hot.size()); b < committed.copies.size(); ++b) {
      const BlockId copy = committed.copies[b];
      split->blocks.push_back(
          copy == kNone ? SplitProcedure::Block{.part = Part::stub, .original = kNone}
                        : SplitProcedure::Block{.part = Part::clone,
                                                .original = split->blocks[copy].original});
    }
  }

  /// Updates calls and registers after the changes of a round.
  void update(const std::vector<HotPart>& parts) {
    for (const HotPart& part : parts) {
      calls_.update(program_, part.procedure);
      flow_.update(part.procedure);
    }
  }

  Candidate make_candidate(Region region) const {
    HotProcedure hot = make_hot_procedure(program_, region, calls_, flow_);
    HotColdRemoved removed;
    removed.branches = remove_decided_branches(hot);
    removed.loads = remove_redundant_loads(hot);
    removed.stores = sink_partial_dead_stores(hot);
    removed.partial_dead_code = sink_partial_dead_code(hot);
    const RemovedSaves saves = eliminate_saves(hot);
    removed.preserved_registers = saves.preserved;
    removed.return_address = saves.return_address;
    removed.copies = propagate_copies(hot);
    removed.partial_dead_code += sink_partial_dead_code(hot);
    removed.stack_adjusts = eliminate_stack_adjusts(hot);
    uint64_t cost = 0;
    for (uint32_t s = hot.hot; s < hot.blocks.size(); ++s)
      if (!hot.blocks[s].code.empty())
        cost += hot.blocks[s].count * (hot.blocks[s].code.size() + kCostOfLeaving);
    const uint64_t gain = removed.executed() > cost ? removed.executed() - cost : 0;
    return {std::move(region), std::move(hot), removed, gain};
  }

  /// Commits a candidate and proves the result. If the proof fails, undoes the change and returns
  /// the reason.
  std::optional<std::string> commit_proven(const Candidate& candidate, CommittedBlocks& committed) {
    const HotColdProof proof(program_, candidate.region.procedure, calls_, flow_);
    committed = commit(program_, candidate.region, candidate.hot);
    auto fault = proof.find_fault(committed.copies);
    if (fault) proof.restore(program_);
    return fault;
  }

  void replace(HotColdNote& note, const Candidate& best) {
    CommittedBlocks committed;
    if (const auto fault = commit_proven(best, committed)) {
      // When the stack pointer is not always known, hardly anything can be proven.
      note.category = is_plain(best.hot.shape) ? Category::not_provable : Category::sp_modified;
      note.reason = "not proven: " + *fault;
      return;
    }
    note.category = Category::optimized;
    note.reason.clear();
    result_.parts.back().push_back({note.procedure, best.region.hot});
    note.removed = best.gain;
    result_.removed += best.removed;
    for (const uint32_t entry : best.hot.entries) note.hot_entered += best.hot.blocks[entry].count;
    note.parts = committed;
    const uint64_t left = executed_by(program_[note.procedure]);
    note.cold_executed = left - std::min(left, committed.hot_executed);
  }

  Program& program_;
  const HotColdOptions options_;
  CallGraph calls_;
  RegisterFlow flow_;
  const AddressTaken taken_;
  const CaughtFaults caught_faults_;
  HotColdResult result_;
};

/// Adds the note of a further round to the note of the previous rounds.
void add(HotColdNote& sum, HotColdNote note) {
  if (!is_optimized(note)) return;
  if (is_optimized(sum)) {
    note.removed += sum.removed;
    note.parts.clone_instructions += sum.parts.clone_instructions;
    note.parts.stub_instructions += sum.parts.stub_instructions;
    note.parts.stubs_entered += sum.parts.stubs_entered;
  }
  note.executed = sum.executed;
  note.instructions = sum.instructions;
  note.leaf = sum.leaf;
  sum = std::move(note);
}

void add(HotColdResult& sum, HotColdResult round) {
  if (sum.parts.empty()) {
    sum = std::move(round);
    return;
  }
  sum.parts.push_back(std::move(round.parts.front()));
  sum.removed += round.removed;
  auto next = sum.notes.begin();
  for (HotColdNote& note : round.notes) {
    while (next != sum.notes.end() && next->procedure < note.procedure) ++next;
    if (next != sum.notes.end() && next->procedure == note.procedure) add(*next, std::move(note));
  }
}

void add_up(HotColdResult& result) {
  for (const HotColdNote& note : result.notes) {
    result.hot_instructions += note.parts.hot_instructions;
    result.clone_instructions += note.parts.clone_instructions;
    result.stub_instructions += note.parts.stub_instructions;
    result.stubs_entered += note.parts.stubs_entered;
    result.hot_entered += note.hot_entered;
  }
}

}  // namespace

HotColdRemoved& HotColdRemoved::operator+=(const HotColdRemoved& other) {
  partial_dead_code += other.partial_dead_code;
  preserved_registers += other.preserved_registers;
  return_address += other.return_address;
  stack_adjusts += other.stack_adjusts;
  copies += other.copies;
  branches += other.branches;
  loads += other.loads;
  stores += other.stores;
  return *this;
}

uint64_t HotColdRemoved::executed() const {
  return partial_dead_code.executed + preserved_registers.executed + return_address.executed +
         stack_adjusts.executed + copies.executed + branches.executed + loads.executed +
         stores.executed;
}

std::string_view name_of(HotColdNote::Category category) {
  switch (category) {
    case Category::optimized:
      return "optimized";
    case Category::infrequent:
      return "infrequent";
    case Category::no_split:
      return "no_split";
    case Category::sp_modified:
      return "sp_modified";
    case Category::not_provable:
      return "not_provable";
    case Category::no_advantage:
      return "no_advantage";
  }
  return {};
}

HotColdResult optimize_hot_cold(Program& program, const HotColdOptions& options,
                                std::optional<CallGraph> calls) {
  if (program.machine->rewrite == nullptr) return {};
  HotColdResult result;
  HotColdOptimizer optimizer(program, options, std::move(calls));
  for (size_t round = 0; round < options.cold_shares.size(); ++round)
    add(result, optimizer.run(round, result));
  add_up(result);
  return result;
}

std::optional<std::string> split_alike(Program& program, const HotParts& parts,
                                       std::optional<CallGraph> calls,
                                       std::vector<SplitProcedure>* splits) {
  if (!parts.empty() && program.machine->rewrite == nullptr)
    return fmt::format("{} images have no hot parts", program.machine->name);
  if (parts.empty()) return std::nullopt;
  HotColdOptimizer optimizer(program, {}, std::move(calls));
  for (const std::vector<HotPart>& round : parts)
    if (auto fault = optimizer.split_alike(round, splits)) return fault;
  return std::nullopt;
}

}  // namespace respike
