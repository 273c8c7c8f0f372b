// A profile identifies blocks by their numbers in the program that was instrumented. Lifting the
// same image gives the same numbers; annotate() compares signatures and addresses of blocks to be
// sure.

#include "optimizer/profile/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "optimizer/base/error.h"
#include "optimizer/base/hash.h"
#include "optimizer/base/saturating.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"
#include "optimizer/profile/signature.h"
#include "optimizer/profile/switches.h"

namespace respike {
namespace {

using ProfileEdge = ProcedureProfile::Edge;

static_assert(static_cast<int>(ProfileEdge::Kind::fall_through) ==
                  static_cast<int>(Edge::Kind::fall_through) &&
              static_cast<int>(ProfileEdge::Kind::taken) == static_cast<int>(Edge::Kind::taken) &&
              static_cast<int>(ProfileEdge::Kind::indirect) ==
                  static_cast<int>(Edge::Kind::indirect) &&
              static_cast<int>(ProfileEdge::Kind::landing_pad) ==
                  static_cast<int>(Edge::Kind::landing_pad));

void clear_counts(Program& program) {
  program.observed_calls.clear();
  for (Procedure& procedure : program.procedures)
    for (BasicBlock& block : procedure.blocks) {
      block.count = 0;
      for (Edge& edge : block.successors) edge.count = 0;
    }
}

/// Whether a procedure has the blocks of the profile: the same addresses, where a block has an
/// address. Blocks that the lifter made up have none.
bool same_blocks(const Program& program, const Procedure& procedure,
                 const ProcedureProfile& profile) {
  return std::equal(procedure.blocks.begin(), procedure.blocks.end(), profile.blocks.begin(),
                    profile.blocks.end(), [&](const BasicBlock& block, const auto& counted) {
                      return block.origin == kNone ? counted.size == 0
                                                   : program.address_of(block) == counted.address;
                    });
}

void set_counts(Procedure& procedure, const ProcedureProfile& profile) {
  for (BlockId b = 0; b < procedure.blocks.size(); ++b)
    procedure.blocks[b].count = profile.blocks[b].count;
  for (const ProfileEdge& counted : profile.edges)
    for (Edge& edge : procedure.blocks[counted.from].successors)
      if (edge.target == counted.to &&
          static_cast<int>(edge.kind) == static_cast<int>(counted.kind)) {
        edge.count = counted.count;
        break;
      }
}

/// Notes for each indirect call the target with the most changes. A target was recorded when it
/// followed another target, so the noted target is only likely to be the most frequent.
void add_observed_calls(Program& program, ProcedureId id, const ProcedureProfile& profile) {
  for (size_t i = 0; i < profile.indirect.size();) {
    const BlockId block = profile.indirect[i].block;
    const ProcedureProfile::IndirectTarget* chosen = nullptr;
    for (; i < profile.indirect.size() && profile.indirect[i].block == block; ++i)
      if (profile.indirect[i].target != 0 &&
          (chosen == nullptr || profile.indirect[i].changes > chosen->changes))
        chosen = &profile.indirect[i];
    if (chosen == nullptr) continue;
    const auto at = block_at(program, chosen->target);
    if (at && at->block == 0 &&
        is_call(program.machine->facts(program[id].blocks[block].instructions.back()).flow))
      program.observed_calls.push_back({id, block, at->procedure});
  }
}

/// The address of the procedure that a block calls or jumps to, 0 if it is not known; nullopt for a
/// block that does not end in a call or a jump out of the procedure.
std::optional<uint64_t> way_out(const Program& program, const Procedure& procedure,
                                const BasicBlock& block) {
  if (block.instructions.empty()) return std::nullopt;
  const Instruction& last = block.instructions.back();
  const ControlFlow flow = program.machine->facts(last).flow;
  const Reference* reference = branch_of(procedure, last);
  const bool jumps_out = reference != nullptr ||
                         (flow == ControlFlow::indirect_jump && block.has(BasicBlock::kMayLeave));
  if (!is_call(flow) && !jumps_out) return std::nullopt;
  const bool known = reference != nullptr && reference->target.procedure != kNone;
  return known ? program[reference->target.procedure].address : 0;
}

}  // namespace

AnnotateResult annotate(Program& program, const Profile& profile) {
  clear_counts(program);
  const std::vector<uint64_t> signatures = sign_graphs(program);
  AnnotateResult result;
  result.known.resize(program.procedures.size());
  for (const ProcedureProfile& counted : profile.procedures) {
    const bool entered = counted.entered();
    const uint64_t instructions = counted.instructions();
    ++result.procedures;
    result.entered += entered;
    result.instructions = saturating_add(result.instructions, instructions);
    const auto id = procedure_at_entry(program, counted.address);
    if (!id || program[*id].name != counted.name || signatures[*id] != counted.signature ||
        !same_blocks(program, program[*id], counted))
      continue;
    set_counts(program[*id], counted);
    add_observed_calls(program, *id, counted);
    result.known[*id] = true;
    ++result.matched;
    result.entered_matched += entered;
    result.instructions_matched = saturating_add(result.instructions_matched, instructions);
  }
  std::sort(program.observed_calls.begin(), program.observed_calls.end(),
            [](const ObservedCall& a, const ObservedCall& b) {
              return std::tie(a.procedure, a.block) < std::tie(b.procedure, b.block);
            });
  return result;
}

AnnotateResult apply_profile(Program& program, const Profile& profile, Diagnostics& diagnostics) {
  const AnnotateResult result = annotate(program, profile);
  if (result.entered != 0 && result.entered_matched == 0)
    throw Error("the profile is of another program: it knows none of the procedures",
                program.image->path);
  if (result.entered_matched != result.entered)
    diagnostics.warn(fmt::format(
        "the profile is of another build: {} of its {} procedures that ran are known here",
        result.entered_matched, result.entered));
  return result;
}

Profile profile_of(const Program& program) {
  Profile profile;
  profile.image_path = program.image->path;
  profile.image_build_id = program.image->build_id;
  profile.image_hash = hash64(program.image->file);
  profile.runs = 1;
  const std::vector<ProcedureSignature> signatures = sign(program);
  std::vector<std::vector<Switch>> switches = find_switches(program);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    const Procedure& procedure = program[id];
    ProcedureProfile& result = profile.procedures.emplace_back();
    result.name = procedure.name;
    result.address = procedure.address;
    result.signature = signatures[id].value;
    result.nodes = signatures[id].nodes;
    result.switches = std::move(switches[id]);
    uint64_t end = procedure.address;  // of the previous block
    for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
      const BasicBlock& block = procedure.blocks[b];
      ProcedureProfile::Block& counted = result.blocks.emplace_back();
      counted.address = block.origin == kNone ? end : program.address_of(block);
      counted.size = block.origin == kNone ? 0 : block.origin_size;
      for (const Instruction& i : block.instructions)
        counted.instructions += !i.is_pseudo() && i.origin != kNone;
      counted.node = signatures[id].node[b];
      counted.count = block.count;
      end = counted.address + counted.size;
      for (const Edge& edge : block.successors)
        result.edges.push_back(
            {b, edge.target, static_cast<ProfileEdge::Kind>(edge.kind), edge.count});
      if (const auto callee = way_out(program, procedure, block))
        result.calls.push_back({b, *callee, block.count});
    }
    std::sort(result.edges.begin(), result.edges.end(), [](const auto& x, const auto& y) {
      return std::tuple(x.from, x.to, x.kind) < std::tuple(y.from, y.to, y.kind);
    });
  }
  return profile;
}

}  // namespace respike
