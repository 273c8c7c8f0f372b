// The IR's invariants, checked.
//
// A pass that leaves a dangling edge or lets a block end in the wrong way produces a program that
// fails far away from its cause. So the invariants of program.h are checked after every step,
// unless Respike was built without RESPIKE_CHECKS, each invariant by a few lines of its own. The
// first violation is reported with procedure and block, as in "main, block 3: its call has no
// reference".
//
// Everything is one walk over the program. References are counted in one array that is reused, and
// untouchable sequences are followed over at most 16 blocks. So time is linear, and memory is that
// of the largest procedure (with a layout: plus a bit per block).
//
// Opaque and pinned procedures stay in place, and their contents may not be code at all. Their
// indices are checked like all others, but the ends of their blocks are not.
//
// Limit: the checks do not ask whether the program means what its image meant; see
// check/same_program.h.

#include "optimizer/check/invariants.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "optimizer/base/error.h"
#include "optimizer/base/parallel.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

using Violation = std::optional<std::string>;

std::string procedure_text(const Program& program, ProcedureId id) {
  return fmt::format("procedure {} ({})", id, program[id].name);
}

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}
  Violation check();

 private:
  Violation unwind_tables() const;
  Violation ranges() const;
  Violation code_pointers() const;
  Violation procedures() const;
  Violation procedure(ProcedureId id);
  Violation side_tables() const;
  Violation jump_table(const JumpTable& table) const;
  Violation block(BlockId id);
  Violation instructions();
  Violation instruction_reference(const Instruction& instruction, ControlFlow flow);
  Violation edges() const;
  Violation glue();
  Violation ending() const;
  Violation call_ending() const;
  Violation sequences(BlockId id) const;
  Violation sequence(BlockId id, SequenceRole begin, SequenceRole end) const;

  /// Why nothing may refer to a place, or nullopt.
  std::optional<std::string_view> bad_place(const CodeLocation& location) const;

  template <typename... Args>
  std::string here(fmt::format_string<Args...> format, Args&&... args) const {
    return fmt::format("{}, block {}: {}", procedure_text(program_, id_), block_id_,
                       fmt::format(format, std::forward<Args>(args)...));
  }
  unsigned count_edges(Edge::Kind kind) const {
    unsigned count = 0;
    for (const Edge& edge : block_->successors) count += edge.kind == kind;
    return count;
  }

  const Program& program_;
  ProcedureId id_ = 0;  // of the procedure being checked
  const Procedure* procedure_ = nullptr;
  BlockId block_id_ = 0;
  const BasicBlock* block_ = nullptr;
  ControlFlow ending_ = ControlFlow::none;     // of the block's last instruction
  const Reference* last_reference_ = nullptr;  // of the block's last instruction
  std::vector<uint8_t> uses_;                  // per reference of the procedure
  std::vector<uint8_t> glued_from_;            // per block: some block is glued to it
};

Violation Verifier::check() {
  if (auto violation = unwind_tables()) return violation;
  if (auto violation = ranges()) return violation;
  if (auto violation = code_pointers()) return violation;
  for (ProcedureId id = 1; id < program_.procedures.size(); ++id)
    if (program_[id].address < program_[id - 1].address)
      return procedure_text(program_, id) + " comes before its place in address order";
  return procedures();
}

/// The first violation in a procedure.
Violation Verifier::procedures() const {
  constexpr size_t kTogether = 64;  // procedures that share the memory of one verifier
  const size_t count = program_.procedures.size();
  std::vector<Violation> found((count + kTogether - 1) / kTogether);
  parallel_for(found.size(), [&](size_t i) {
    Verifier verifier(program_);
    for (size_t id = i * kTogether; id < std::min(count, (i + 1) * kTogether) && !found[i]; ++id)
      found[i] = verifier.procedure(static_cast<ProcedureId>(id));
  });
  for (Violation& violation : found)
    if (violation) return std::move(violation);
  return std::nullopt;
}

Violation Verifier::unwind_tables() const {
  const UnwindTables& tables = program_.unwind;
  for (size_t i = 0; i < tables.states.size(); ++i)
    if (tables.states[i].cie >= tables.cies.size())
      return fmt::format("unwind state {} names a CIE that does not exist", i);
  for (size_t i = 0; i < tables.cies.size(); ++i)
    if (tables.cies[i].initial_state >= tables.states.size())
      return fmt::format("CIE {} names an initial state that does not exist", i);
  return std::nullopt;
}

Violation Verifier::ranges() const {
  uint64_t previous_end = 0;
  for (const CodeRange& range : program_.ranges) {
    if (range.start < previous_end || range.end < range.start)
      return fmt::format("code range {:#x}..{:#x} overlaps its predecessor or is negative",
                         range.start, range.end);
    previous_end = range.end;
    if (range.procedure >= program_.procedures.size() || range.end_block < range.first_block ||
        range.end_block > program_[range.procedure].blocks.size())
      return fmt::format("code range {:#x}..{:#x} names blocks that do not exist", range.start,
                         range.end);
    // Blocks of a range are in address order; blocks without an origin were added by a pass.
    uint64_t next = 0;
    for (BlockId b = range.first_block; b < range.end_block; ++b) {
      const BasicBlock& block = program_[range.procedure].blocks[b];
      if (block.origin == kNone) continue;
      const uint64_t start = program_.address_of(block);
      if (start < range.start || start + block.origin_size > range.end)
        return fmt::format("{}, block {}: it lies outside of its code range",
                           procedure_text(program_, range.procedure), b);
      if (start < next)
        return fmt::format("{}, block {}: it overlaps the block before it in the input",
                           procedure_text(program_, range.procedure), b);
      next = start + block.origin_size;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> Verifier::bad_place(const CodeLocation& location) const {
  if (!names_block(location)) {
    if (location.procedure != kNone) return "an address that also names a procedure";
    return std::nullopt;
  }
  if (location.procedure >= program_.procedures.size()) return "a procedure that does not exist";
  const auto& blocks = program_[location.procedure].blocks;
  if (location.block >= blocks.size()) return "a block that does not exist";
  if (location.where == CodeLocation::Where::return_point &&
      blocks[location.block].instructions.empty())
    return "the return point of an empty block";
  return std::nullopt;
}

bool is_data_kind(ReferenceKind kind) {
  return kind == ReferenceKind::address64 || kind == ReferenceKind::address32 ||
         kind == ReferenceKind::gp_relative32 || kind == ReferenceKind::pc_relative32 ||
         kind == ReferenceKind::pc_relative64 || kind == ReferenceKind::table_relative32;
}

/// Whether control may come to the block from outside of its procedure.
bool expects_visitors(const Program& program, const CodeLocation& target) {
  return target.block == 0 ||
         program[target.procedure].blocks[target.block].has(BasicBlock::kAddressTaken) ||
         program[target.procedure].blocks[target.block].has(BasicBlock::kEntry);
}

Violation Verifier::code_pointers() const {
  const CodePointer* previous = nullptr;
  for (const CodePointer& pointer : program_.code_pointers) {
    const auto say = [&](std::string_view what) {
      return fmt::format("the code pointer at {:#x} {}", pointer.address, what);
    };
    if (previous != nullptr && pointer.address <= previous->address)
      return say("is out of order or given twice");
    previous = &pointer;
    if (!is_data_kind(pointer.kind)) return say("has a kind that only instructions have");
    if (const auto why = bad_place(pointer.target)) return say(fmt::format("refers to {}", *why));
    if (pointer.target.where == CodeLocation::Where::block_start &&
        !expects_visitors(program_, pointer.target))
      return say(fmt::format("refers to {}, block {}, which is not marked as address-taken",
                             procedure_text(program_, pointer.target.procedure),
                             pointer.target.block));
  }
  return std::nullopt;
}

Violation Verifier::procedure(ProcedureId id) {
  id_ = id;
  procedure_ = &program_[id];
  const size_t count = procedure_->blocks.size();
  if (count == 0)
    return procedure_->movable() ? Violation(procedure_text(program_, id) + " has no blocks")
                                 : std::nullopt;
  if (!procedure_->movable() && procedure_->reason.empty())
    return procedure_text(program_, id) + " may not be moved, but has no reason for it";
  if (auto violation = side_tables()) return violation;
  uses_.assign(procedure_->references.size(), 0);
  glued_from_.assign(count, 0);
  if (!procedure_->blocks[0].has(BasicBlock::kEntry))
    return procedure_text(program_, id) + ", block 0: it is the entry, but not marked as one";
  for (BlockId b = 0; b < count; ++b)
    if (auto violation = block(b)) return violation;
  for (const JumpTable& table : procedure_->jump_tables)
    if (auto violation = jump_table(table)) return violation;
  if (!procedure_->movable()) return std::nullopt;
  for (BlockId b = 0; b < count; ++b)
    if (auto violation = sequences(b)) return violation;
  return std::nullopt;
}

Violation Verifier::side_tables() const {
  for (size_t i = 0; i < procedure_->call_sites.size(); ++i) {
    const CallSite& site = procedure_->call_sites[i];
    const auto say = [&](std::string_view what) {
      return fmt::format("{}: call site {} {}", procedure_text(program_, id_), i, what);
    };
    if (site.lsda >= program_.unwind.lsdas.size()) return say("names an LSDA that does not exist");
    if (site.landing_pad == kNone) continue;
    if (site.landing_pad >= procedure_->blocks.size())
      return say("names a landing pad that does not exist");
    if (!procedure_->blocks[site.landing_pad].has(BasicBlock::kLandingPad))
      return say(
          fmt::format("lands at block {}, which is not marked as a landing pad", site.landing_pad));
  }
  for (size_t i = 0; i < procedure_->references.size(); ++i)
    if (const auto why = bad_place(procedure_->references[i].target))
      return fmt::format("{}: reference {} is to {}", procedure_text(program_, id_), i, *why);
  return std::nullopt;
}

/// A table that belongs to one jump leads only where the edges of the jump lead.
Violation Verifier::jump_table(const JumpTable& table) const {
  if (table.jump == kNone) return std::nullopt;
  const auto say = [&](std::string_view what) {
    return fmt::format("{}: the jump table at {:#x} {}", procedure_text(program_, id_),
                       table.address, what);
  };
  if (table.jump >= procedure_->blocks.size()) return say("belongs to a block that does not exist");
  const auto [first, last] = entries_of(program_, table);
  if (last - first != table.entries) return say("has entries that are no code pointers");
  std::set<BlockId> targets;
  for (const Edge& edge : procedure_->blocks[table.jump].successors)
    if (edge.kind == Edge::Kind::indirect) targets.insert(edge.target);
  for (size_t i = first; i < last; ++i) {
    const CodeLocation& to = program_.code_pointers[i].target;
    if (to.where != CodeLocation::Where::block_start || to.procedure != id_ ||
        !targets.contains(to.block))
      return say(fmt::format("has an entry, {}, that leads where its jump does not", i - first));
  }
  return std::nullopt;
}

Violation Verifier::block(BlockId id) {
  block_id_ = id;
  block_ = &procedure_->blocks[id];
  if (block_->cfi_state != kNone && block_->cfi_state >= program_.unwind.states.size())
    return here("its unwind state {} does not exist", block_->cfi_state);
  if (block_->call_site != kNone && block_->call_site >= procedure_->call_sites.size())
    return here("its call site {} does not exist", block_->call_site);
  if (auto violation = instructions()) return violation;
  if (auto violation = edges()) return violation;
  if (!procedure_->movable()) return std::nullopt;
  if (auto violation = glue()) return violation;
  return ending();
}

/// Checks each instruction; sets ending_ and last_reference_ by the last instruction.
Violation Verifier::instructions() {
  ending_ = ControlFlow::none;
  last_reference_ = nullptr;
  const auto list = block_->instructions.span();
  for (size_t i = 0; i < list.size(); ++i) {
    const Instruction& instruction = list[i];
    if (ending_ != ControlFlow::none)
      return here("instruction {} changes the flow of control, but is not the last", i - 1);
    if (instruction.is_pseudo()) {
      if (instruction.has_reference()) return here("pseudo-instruction {} has a reference", i);
      if (instruction.immediate < -1 ||
          (instruction.immediate >= 0 &&
           static_cast<size_t>(instruction.immediate) >= program_.unwind.states.size()))
        return here("instruction {} sets unwind state {}, which does not exist", i,
                    instruction.immediate);
      continue;
    }
    ending_ = program_.machine->facts(instruction).flow;
    last_reference_ = nullptr;
    if (!instruction.has_reference()) continue;
    if (auto violation = instruction_reference(instruction, ending_)) return violation;
  }
  return std::nullopt;
}

/// For addresses that one instruction holds: calls through memory are among these instructions.
bool is_whole(ReferenceKind kind) {
  return kind == ReferenceKind::pc_relative32 || kind == ReferenceKind::address32;
}

bool is_indirect(ControlFlow flow) {
  return flow == ControlFlow::indirect_call || flow == ControlFlow::indirect_jump ||
         flow == ControlFlow::return_jump;
}

Violation Verifier::instruction_reference(const Instruction& instruction, ControlFlow flow) {
  const auto index = static_cast<uint32_t>(instruction.immediate);
  if (index >= procedure_->references.size()) return here("reference {} does not exist", index);
  const Reference& reference = procedure_->references[index];
  const ReferenceKind kind = reference.kind;
  const bool gp_load = kind == ReferenceKind::gp_load_high || kind == ReferenceKind::gp_load_low;
  const bool whole = kind == ReferenceKind::gp_offset;
  const bool gp =
      gp_load || whole || kind == ReferenceKind::gp_high || kind == ReferenceKind::gp_low;
  const bool pc = kind == ReferenceKind::pc_high || kind == ReferenceKind::pc_low ||
                  kind == ReferenceKind::address_high || kind == ReferenceKind::address_low;
  if (++uses_[index] > (gp_load ? 2 : 1))
    return here("reference {} belongs to too many instructions", index);
  const bool prefix = program_.machine->facts(instruction).prefix;
  const bool fits = kind == ReferenceKind::branch ? is_direct(flow) || prefix
                    : kind == ReferenceKind::branch_hint
                        ? is_indirect(flow)
                        : is_whole(kind) || ((gp || pc) && flow == ControlFlow::none);
  if (!fits) return here("the kind of reference {} does not fit its instruction", index);
  const bool upper = kind == ReferenceKind::gp_high || kind == ReferenceKind::gp_load_high ||
                     kind == ReferenceKind::pc_high || kind == ReferenceKind::address_high;
  // Both halves of a gp load carry the reference of the upper half.
  if ((gp || pc) && !whole && kind != ReferenceKind::gp_load_high &&
      upper != program_.machine->fixups.is_upper_half(instruction))
    return here("reference {} is for the other half of an address", index);
  if (gp && !procedure_->gp && program_.gp_values.empty())
    return here("reference {} is relative to a gp that nobody knows", index);
  const CodeLocation& target = reference.target;
  if (kind != ReferenceKind::branch_hint && target.where == CodeLocation::Where::block_start &&
      target.procedure != id_ && !expects_visitors(program_, target))
    return here("reference {} is to {}, block {}, which is not marked as address-taken", index,
                procedure_text(program_, target.procedure), target.block);
  last_reference_ = &reference;
  return std::nullopt;
}

Violation Verifier::edges() const {
  for (const Edge& edge : block_->successors) {
    if (edge.target >= procedure_->blocks.size())
      return here("an edge leads to block {}, which does not exist", edge.target);
    if (edge.kind == Edge::Kind::landing_pad &&
        !procedure_->blocks[edge.target].has(BasicBlock::kLandingPad))
      return here("block {} gets a landing-pad edge, but is not marked as a landing pad",
                  edge.target);
  }
  return std::nullopt;
}

const Edge* fall_through_edge(const BasicBlock& block) {
  for (const Edge& edge : block.successors)
    if (edge.kind == Edge::Kind::fall_through) return &edge;
  return nullptr;
}

/// Two blocks that are glued to the same successor could never both be placed.
Violation Verifier::glue() {
  if (!block_->has(BasicBlock::kGluedToNext)) return std::nullopt;
  const Edge* edge = fall_through_edge(*block_);
  if (edge == nullptr) return here("it is glued to its successor, but has no fall-through edge");
  if (edge->target == block_id_) return here("it is glued to itself");
  if (glued_from_[edge->target] != 0)
    return here("it is glued to block {}, and so is another block", edge->target);
  glued_from_[edge->target] = 1;
  return std::nullopt;
}

/// The edges must be those that the last instruction calls for.
Violation Verifier::ending() const {
  const size_t all = block_->successors.size();
  const unsigned fall_through = count_edges(Edge::Kind::fall_through);
  const unsigned taken = count_edges(Edge::Kind::taken);
  // 1 when a predicate may skip the jump at the end.
  const unsigned skipped =
      ending_ != ControlFlow::none &&
              program_.machine->facts(block_->instructions.back()).falls_through
          ? 1
          : 0;
  const bool leaves = last_reference_ != nullptr && last_reference_->kind == ReferenceKind::branch;
  switch (ending_) {
    case ControlFlow::none:
      if (fall_through != 1 || all != 1)
        return here("it ends without a branch and needs one fall-through edge and no other");
      break;
    case ControlFlow::conditional_branch:
      if (fall_through != 1 || taken != (leaves ? 0 : 1) || all != fall_through + taken)
        return here(
            "its conditional branch needs one fall-through edge and either a taken edge or "
            "a reference");
      break;
    case ControlFlow::branch:
      if (taken != (leaves ? 0 : 1) || all != taken)
        return here("its branch needs either a taken edge or a reference, and no other edge");
      break;
    case ControlFlow::call:
    case ControlFlow::indirect_call:
      if (ending_ == ControlFlow::call && !leaves) return here("its call has no reference");
      return call_ending();
    case ControlFlow::indirect_jump:
      if (all != count_edges(Edge::Kind::indirect) + fall_through || fall_through != skipped)
        return here("its indirect jump has an edge that is not indirect");
      break;
    case ControlFlow::return_jump:
      if (all != fall_through || fall_through != skipped)
        return here("nothing follows its last instruction, but it has an edge");
      break;
    case ControlFlow::stop:
      if (all != fall_through || fall_through < skipped || fall_through > 1)
        return here("its stop needs at most one fall-through edge and no other");
      break;
  }
  return std::nullopt;
}

Violation Verifier::call_ending() const {
  const unsigned fall_through = count_edges(Edge::Kind::fall_through);
  const unsigned landing_pads = count_edges(Edge::Kind::landing_pad);
  if (fall_through > 1 || landing_pads > 1 ||
      block_->successors.size() != fall_through + landing_pads)
    return here("its call needs at most one fall-through and one landing-pad edge and no other");
  BlockId expected = kNone;
  if (block_->call_site != kNone) expected = procedure_->call_sites[block_->call_site].landing_pad;
  BlockId found = kNone;
  for (const Edge& edge : block_->successors)
    if (edge.kind == Edge::Kind::landing_pad) found = edge.target;
  if (found != expected) return here("its landing-pad edge and its call site do not say the same");
  return std::nullopt;
}

/// Follows the fall-through path from a block in which a sequence begins. Where the path reaches
/// the end of the sequence, each of its blocks must be glued to the next.
Violation Verifier::sequence(BlockId id, SequenceRole begin, SequenceRole end) const {
  constexpr unsigned kLongest = 16;
  BlockId loose = kNone;
  BlockId at = id;
  for (unsigned steps = 1; steps < kLongest; ++steps) {
    const BasicBlock& block = procedure_->blocks[at];
    if (!block.instructions.empty() && !block.instructions.back().is_pseudo()) {
      const ControlFlow flow = program_.machine->facts(block.instructions.back()).flow;
      if (flow != ControlFlow::none && flow != ControlFlow::conditional_branch) return std::nullopt;
    }
    const Edge* edge = fall_through_edge(block);
    if (edge == nullptr) return std::nullopt;
    if (!block.has(BasicBlock::kGluedToNext) && loose == kNone) loose = at;
    at = edge->target;
    for (const Instruction& instruction : procedure_->blocks[at].instructions) {
      if (instruction.is_pseudo()) continue;
      const SequenceRole role = program_.machine->facts(instruction).role;
      if (role == begin) return std::nullopt;  // checked from there
      if (role != end) continue;
      if (loose == kNone) return std::nullopt;
      return fmt::format(
          "{}, block {}: it lies inside an untouchable sequence that begins in "
          "block {}, but is not glued to its successor",
          procedure_text(program_, id_), loose, id);
    }
  }
  return std::nullopt;
}

/// Checks the sequences that begin in the block and do not end in it.
Violation Verifier::sequences(BlockId id) const {
  bool reservation = false, shadow = false;
  for (const Instruction& instruction : procedure_->blocks[id].instructions) {
    if (instruction.is_pseudo()) continue;
    const SequenceRole role = program_.machine->facts(instruction).role;
    if (role == SequenceRole::reservation_begin) reservation = true;
    if (role == SequenceRole::reservation_end) reservation = false;
    if (role == SequenceRole::shadow_begin) shadow = true;
    if (role == SequenceRole::shadow_end) shadow = false;
  }
  Violation violation;
  if (reservation)
    violation = sequence(id, SequenceRole::reservation_begin, SequenceRole::reservation_end);
  if (shadow && !violation)
    violation = sequence(id, SequenceRole::shadow_begin, SequenceRole::shadow_end);
  return violation;
}

class LayoutVerifier {
 public:
  LayoutVerifier(const Program& program, const Layout& layout)
      : program_(program), layout_(layout) {}
  Violation check();

 private:
  Violation fragment(const Layout::Fragment& fragment);

  const Program& program_;
  const Layout& layout_;
  BlockNumbers numbers_;
  std::vector<bool> placed_;  // per block
};

Violation LayoutVerifier::check() {
  numbers_ = BlockNumbers(program_);
  placed_.assign(numbers_.count(), false);
  for (const Layout::Fragment& each : layout_.fragments)
    if (auto violation = fragment(each)) return violation;
  for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
    if (!program_[id].movable()) continue;
    for (BlockId b = 0; b < program_[id].blocks.size(); ++b)
      if (!placed_[numbers_(id, b)])
        return fmt::format("{}, block {}: the layout has no place for it",
                           procedure_text(program_, id), b);
  }
  return std::nullopt;
}

Violation LayoutVerifier::fragment(const Layout::Fragment& fragment) {
  if (fragment.procedure >= program_.procedures.size())
    return fmt::format("the layout has a fragment of procedure {}, which does not exist",
                       fragment.procedure);
  const Procedure& procedure = program_[fragment.procedure];
  const std::string_view name = procedure.name;
  const auto say = [&](BlockId block, std::string_view what) {
    return fmt::format("procedure {} ({}), block {}: {}", fragment.procedure, name, block, what);
  };
  if (!procedure.movable()) return say(0, "the layout moves it, but its procedure must stay");
  if (fragment.blocks.empty()) return say(0, "the layout has an empty fragment of its procedure");
  if (fragment.start.alignment == 0 ||
      (fragment.start.alignment & (fragment.start.alignment - 1)) != 0)
    return say(fragment.blocks[0], "the alignment of its fragment is not a power of two");
  if (fragment.start.phase >= fragment.start.alignment)
    return say(fragment.blocks[0], "the phase of its fragment is not below the alignment");
  for (size_t i = 0; i < fragment.blocks.size(); ++i) {
    const BlockId b = fragment.blocks[i];
    if (b >= procedure.blocks.size()) return say(b, "the layout places it, but it does not exist");
    if (placed_[numbers_(fragment.procedure, b)]) return say(b, "the layout places it twice");
    placed_[numbers_(fragment.procedure, b)] = true;
    if (!procedure.blocks[b].has(BasicBlock::kGluedToNext)) continue;
    const Edge* edge = fall_through_edge(procedure.blocks[b]);
    if (edge == nullptr) return say(b, "it is glued, but nothing follows it");
    if (i + 1 == fragment.blocks.size() || fragment.blocks[i + 1] != edge->target)
      return say(b,
                 fmt::format("it is glued to block {}, but the layout parts them", edge->target));
  }
  return std::nullopt;
}

}  // namespace

Violation find_violation(const Program& program) {
  return Verifier(program).check();
}

Violation find_violation(const Program& program, const Layout& layout) {
  return LayoutVerifier(program, layout).check();
}

void require_invariants([[maybe_unused]] const Program& program,
                        [[maybe_unused]] const Layout* layout) {
#ifdef RESPIKE_CHECKS
  auto violation = find_violation(program);
  if (!violation && layout != nullptr) violation = find_violation(program, *layout);
  if (violation) throw Error("internal error: " + *violation, program.image->path);
#endif
}

}  // namespace respike
