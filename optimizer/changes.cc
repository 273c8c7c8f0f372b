// A comparison of input and output has to know how hot-cold optimization changed procedures: their
// blocks have no counterparts in the input. The output's note says which blocks were hot, no more.
// From that the changes are made again on the input, and proven again (hotcold/proof.h); then the
// comparison goes from the changed input to the output. A note that lies can only make this fail.
//
// What the changes depend on beside the hot blocks is made alike, too: what the user wanted left
// out, and the loads of gp and no-ops that go first. Those loads are put back where nothing else
// changed, so that the comparison finds out for itself that they are needless.
//
// Limit: only the Respike whose optimizations take the same steps can follow them.

#include "optimizer/changes.h"

#include <algorithm>
#include <utility>

#include "optimizer/layout/nops.h"

namespace respike {
namespace {

std::optional<ProcedureId> procedure_at(const Program& program, uint64_t entry) {
  const auto& list = program.procedures;
  const auto found =
      std::lower_bound(list.begin(), list.end(), entry,
                       [](const Procedure& p, uint64_t address) { return p.address < address; });
  if (found == list.end() || found->address != entry) return std::nullopt;
  return static_cast<ProcedureId>(found - list.begin());
}

/// The hot part that a note tells of; nullopt when the program has no such blocks.
std::optional<HotPart> find_part(const Program& program, const Provenance::HotPart& described) {
  const auto procedure = procedure_at(program, described.entry);
  if (!procedure) return std::nullopt;
  HotPart part{*procedure, {}};
  const auto& blocks = program[*procedure].blocks;
  for (BlockId b = 0; b < blocks.size(); ++b)
    if (std::binary_search(described.blocks.begin(), described.blocks.end(),
                           program.address_of(blocks[b])))
      part.blocks.push_back(b);
  if (part.blocks.size() != described.blocks.size()) return std::nullopt;
  return part;
}

}  // namespace

void pin(Program& program, const std::vector<ProcedureId>& left_out) {
  for (const ProcedureId id : left_out) {
    program[id].state = Procedure::State::pinned;
    program[id].reason = "left out on request";
  }
  pin_followers(program);
}

void forget_changed(DroppedGpLoads& loads, const std::vector<HotPart>& changed) {
  std::vector<bool> is_changed;
  for (const HotPart& part : changed) {
    is_changed.resize(std::max<size_t>(is_changed.size(), part.procedure + size_t{1}));
    is_changed[part.procedure] = true;
  }
  std::erase_if(loads.blocks, [&](const DroppedGpLoads::Block& block) {
    return block.procedure < is_changed.size() && is_changed[block.procedure];
  });
}

Provenance describe_changes(const Program& program, const std::vector<ProcedureId>& left_out,
                            const std::vector<HotPart>& parts) {
  Provenance note;
  if (parts.empty()) return note;
  for (const HotPart& part : parts) {
    auto& described = note.hot_parts.emplace_back();
    described.entry = program[part.procedure].address;
    for (const BlockId block : part.blocks)
      described.blocks.push_back(program.address_of(program[part.procedure].blocks[block]));
    std::sort(described.blocks.begin(), described.blocks.end());
  }
  for (const ProcedureId id : left_out) note.left_out.push_back(program[id].address);
  return note;
}

std::optional<std::string> follow_changes(Program& program, const Provenance& note) {
  if (note.hot_parts.empty()) return std::nullopt;
  constexpr const char* kOther = "the output tells of hot code that the input does not have";
  std::vector<ProcedureId> left_out;
  for (const uint64_t entry : note.left_out) {
    const auto procedure = procedure_at(program, entry);
    if (!procedure) return kOther;
    left_out.push_back(*procedure);
  }
  std::vector<HotPart> parts;
  for (const Provenance::HotPart& described : note.hot_parts) {
    auto part = find_part(program, described);
    if (!part) return kOther;
    parts.push_back(std::move(*part));
  }
  pin(program, left_out);
  DroppedGpLoads gp_loads = drop_gp_loads(program);
  drop_nops(program);
  if (auto fault = split_alike(program, parts)) return fault;
  forget_changed(gp_loads, parts);
  put_back(program, gp_loads);
  return std::nullopt;
}

}  // namespace respike
