// A comparison of input and output has to know how hot-cold optimization changed procedures: their
// changed blocks have no counterparts in the input. The output's note only says which blocks were
// hot. From the note the changes are repeated on the input and proven again
// (check/hot_cold_proof.h); then the comparison goes from the changed input to the output. A false
// note can only make the comparison fail.
//
// The changes depend on more than the hot blocks, so the steps before them are repeated as well:
// leaving out what the user wanted left out, and dropping loads of gp and no-ops. The dropped loads
// are put back where nothing else changed: a comparison without a list of needless loads finds them
// itself.
//
// Example: the note says that blocks 0 and 2 of f were hot. f is changed again with these hot
// blocks, and the comparison walks the changed f and the f of the output in lockstep.
//
// Limit: the comparison needs a Respike whose optimizations take the same steps.

#include "optimizer/replay/changes.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "optimizer/ir/lookup.h"
#include "optimizer/transform/nops.h"

namespace respike {
namespace {

/// The hot parts that a note lists; nullopt when the program has no such procedures.
std::optional<HotParts> find_parts(const Program& program, const Provenance& note) {
  // In each round a procedure may double its size.
  if (note.hot_parts.size() > HotColdOptions().cold_shares.size()) return std::nullopt;
  HotParts parts;
  for (const auto& round : note.hot_parts) {
    auto& found = parts.emplace_back();
    for (const Provenance::HotPart& described : round) {
      const auto procedure = procedure_at_entry(program, described.entry);
      // Each procedure at most once per round.
      if (!procedure || (!found.empty() && found.back().procedure >= *procedure))
        return std::nullopt;
      HotPart& part = found.emplace_back();
      part.procedure = *procedure;
      for (const uint64_t block : described.blocks) {
        if (block >= kNone) return std::nullopt;
        part.blocks.push_back(static_cast<BlockId>(block));
      }
    }
  }
  return parts;
}

}  // namespace

void pin(Program& program, const std::vector<ProcedureId>& left_out, std::string_view reason) {
  for (const ProcedureId id : left_out) {
    program[id].state = Procedure::State::pinned;
    program[id].reason = reason;
  }
  pin_followers(program);
}

void forget_changed(DroppedGpLoads& loads, const HotParts& changed) {
  std::unordered_set<ProcedureId> procedures;
  for (const auto& round : changed)
    for (const HotPart& part : round) procedures.insert(part.procedure);
  const auto is_changed = [&](const auto& at) { return procedures.contains(at.procedure); };
  std::erase_if(loads.blocks, is_changed);
  std::erase_if(loads.loads, is_changed);
}

Provenance describe_changes(const Program& program, const std::vector<ProcedureId>& left_out,
                            const HotParts& parts) {
  Provenance note;
  if (std::ranges::all_of(parts, [](const auto& round) { return round.empty(); })) return note;
  for (const auto& round : parts) {
    auto& described = note.hot_parts.emplace_back();
    for (const HotPart& part : round)
      described.push_back(
          {program[part.procedure].address, {part.blocks.begin(), part.blocks.end()}});
  }
  for (const ProcedureId id : left_out) note.left_out.push_back(program[id].address);
  return note;
}

std::optional<std::string> follow_changes(Program& program, const Provenance& note,
                                          std::vector<SplitProcedure>* splits) {
  if (note.hot_parts.empty()) return std::nullopt;
  constexpr const char* kOther = "the output tells of hot code that the input does not have";
  std::vector<ProcedureId> left_out;
  for (const uint64_t entry : note.left_out) {
    const auto procedure = procedure_at_entry(program, entry);
    // An opaque or pinned procedure stays so, whatever the note says.
    if (!procedure || !program[*procedure].movable()) return kOther;
    left_out.push_back(*procedure);
  }
  const auto parts = find_parts(program, note);
  if (!parts) return kOther;
  pin(program, left_out);
  std::optional<CallGraph> calls;
  DroppedGpLoads gp_loads = drop_gp_loads(program, calls);
  drop_nops(program);
  if (auto fault = split_alike(program, *parts, std::move(calls), splits)) return fault;
  forget_changed(gp_loads, *parts);
  put_back(program, gp_loads);
  return std::nullopt;
}

}  // namespace respike
