// Edges and references, once blocks exist.
//
// Direct branches name their targets. A fall-through becomes an edge to the next block; if it
// leaves the procedure, an explicit branch is appended. Every field that depends on an address of
// code gets a symbolic reference. Indirect jumps come last; see jumps.cc.
//
// Procedures are connected on several threads. Effects of a procedure on other procedures are
// recorded and applied afterwards, in the order of the program, so the outcome does not depend on
// the threads.
//
// Example: "f: beq 1f; addq; 1: lda" before g: the block of beq gets a taken edge to the block of
// lda and a fall-through edge to the block of addq; the block of lda gets a branch to g appended.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "optimizer/base/parallel.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/jumps.h"
#include "optimizer/lift/lifter.h"
#include "optimizer/lift/return_addresses.h"
#include "optimizer/lift/sums.h"

namespace respike {
namespace {

constexpr const char* kMayLeadTo = "code in front of it that stays may lead to it";

/// A direct call whose callee may use the return address to find data.
struct DoubtfulCall {
  ProcedureId caller = kNone;
  uint32_t origin = 0;  // of the call, see Instruction::origin
  Callee callee;
};

/// A block that holds only a branch; control falls into it from a conditional branch.
struct AddedBlock {
  ProcedureId procedure = kNone;
  BlockId after = kNone;
  BasicBlock block;
};

/// The effects of the procedures of a part on other procedures, in the order of the program.
struct Consequences {
  std::vector<std::pair<ProcedureId, BlockId>> entered;  // blocks to which others refer
  std::vector<std::pair<ProcedureId, std::string>> opaque;
  std::vector<uint64_t> kept_ways;  // addresses out of all procedures to which control may come
  std::vector<DoubtfulCall> calls;
  std::vector<std::pair<ProcedureId, ProcedureId>> falls_into, near_branches;  // see Program
  std::vector<AddedBlock> added;
};

/// The return point of the call right before an address; the call is in a procedure.
CodeLocation return_point_at(const Lifter& lifter, uint64_t address) {
  const Program& program = lifter.program;
  const uint64_t call = lifter.map().previous(address);
  const CodeRange& range = program.ranges[lifter.range_at(call)];
  const auto& blocks = program[range.procedure].blocks;
  const auto origin = static_cast<uint32_t>(call - program.origin_base);
  const auto behind =
      std::upper_bound(blocks.begin() + range.first_block, blocks.begin() + range.end_block, origin,
                       [](uint32_t o, const BasicBlock& b) { return o < b.origin; });
  return {.where = CodeLocation::Where::return_point,
          .procedure = range.procedure,
          .block = static_cast<BlockId>(behind - blocks.begin() - 1)};
}

/// Edges and references of one procedure, once all blocks of the program exist. Writes only to the
/// procedure.
class Connector {
 public:
  Connector(Lifter& lifter, ProcedureId id, Arena& arena, Consequences& consequences)
      : lifter_(lifter),
        program_(lifter.program),
        id_(id),
        procedure_(program_[id]),
        arena_(arena),
        consequences_(consequences) {}

  void connect(const CodeRange& range) {
    if (range.first_block == range.end_block) return;
    const bool data = std::binary_search(lifter_.data.begin(), lifter_.data.end(), id_);
    found_ = std::ranges::lower_bound(lifter_.found, range.start, {}, &FoundReference::place);
    for (BlockId id = range.first_block; id < range.end_block; ++id) {
      BasicBlock& block = procedure_.blocks[id];
      add_references(block);
      if (data) continue;  // an instruction that looks like a branch must stay as it is
      if (lifter_.machine.is_signal_return(block.instructions.span()))
        lifter_.pin(procedure_, "unwinders recognise this signal return code by its bytes");
      else
        add_edges(range, id);
    }
  }

  void resolve_landing_pads() {
    for (size_t i = 0; i < procedure_.call_sites.size(); ++i) {
      const uint64_t pad = lifter_.landing_pads[id_][i];
      if (pad == 0) continue;
      const auto location = block_at(program_, pad);
      if (location && location->procedure == id_)
        procedure_.call_sites[i].landing_pad = location->block;
      else
        lifter_.make_opaque(procedure_, fmt::format("its landing pad {:#x} lies elsewhere", pad));
    }
  }

 private:
  uint64_t address_of(const Instruction& instruction) const {
    return program_.origin_base + instruction.origin;
  }

  void add_edge(BasicBlock& block, BlockId target, Edge::Kind kind) {
    block.successors.push_back(arena_, Edge{.target = target, .kind = kind});
  }

  void refer(Instruction& instruction, ReferenceKind kind, const CodeLocation& target) {
    if (target.where == CodeLocation::Where::block_start && target.procedure != id_)
      consequences_.entered.emplace_back(target.procedure, target.block);
    instruction.immediate = static_cast<int32_t>(procedure_.references.size());
    instruction.flags |= Instruction::kHasReference;
    procedure_.references.push_back({kind, target});
  }

  /// The place at an address that is kept in code or data: a block, or an address that never moves.
  CodeLocation location_of(uint64_t address) const {
    if (const auto block = block_at(program_, address)) return *block;
    return {.where = CodeLocation::Where::address, .address = address};
  }

  /// The anchor of a gp load: the entry, a landing pad, or the return point of the call before.
  CodeLocation anchor_of(uint64_t anchor, uint64_t gp_load) const {
    if (anchor == procedure_.address || (lifter_.marks_at(anchor) & kLandingPadMark) != 0 ||
        lifter_.is_entry_anchor(anchor, gp_load))
      return location_of(anchor);
    return return_point_at(lifter_, anchor);
  }

  void add_references(BasicBlock& block) {
    const uint64_t start = program_.address_of(block), end = start + block.origin_size;
    // Padding that nothing leads to is in no block, whatever it seems to refer to.
    while (found_ != lifter_.found.end() && found_->place < start) ++found_;
    uint32_t at = 0;
    for (auto& found = found_; found != lifter_.found.end() && found->place < end; ++found) {
      while (block.instructions[at].is_pseudo() ||
             address_of(block.instructions[at]) != found->place)
        ++at;
      Instruction& instruction = block.instructions[at];
      if (instruction.has_reference()) {
        lifter_.make_opaque(
            procedure_, fmt::format("relocations at {:#x} contradict each other", found->place));
        continue;
      }
      if (found->pair == 0) {
        refer(instruction, found->kind, location_of(found->target));
        continue;
      }
      // Both halves of a gp load share one reference; the half that is seen first makes it.
      const auto [known, fresh] =
          gp_loads_.emplace(found->pair, static_cast<uint32_t>(procedure_.references.size()));
      if (fresh)
        procedure_.references.push_back(
            {ReferenceKind::gp_load_high, anchor_of(found->target, found->pair)});
      instruction.immediate = static_cast<int32_t>(known->second);
      instruction.flags |= Instruction::kHasReference;
    }
  }

  void add_edges(const CodeRange& range, BlockId id) {
    BasicBlock& block = procedure_.blocks[id];
    Instruction& last = block.instructions.back();
    const ControlFlow flow = lifter_.machine.facts(last).flow;
    if (flow == ControlFlow::conditional_branch) block.successors.reserve(arena_, 2);
    if (is_direct(flow)) add_branch(block, last, flow);
    if (lifter_.machine.facts(last).stays_near) stay_near(last);
    const bool call = is_call(flow) && last.predicate == 0;
    if (lifter_.machine.facts(last).falls_through) fall_through(range, id, call);
    if (is_call(flow) && procedure_.blocks[id].call_site != kNone) {
      const BlockId pad = procedure_.call_sites[procedure_.blocks[id].call_site].landing_pad;
      if (pad != kNone) add_edge(procedure_.blocks[id], pad, Edge::Kind::landing_pad);
    }
  }

  bool is_short(const Instruction& branch) const {
    const BranchForms& forms = lifter_.machine.branches;
    return lifter_.machine.facts(branch).stays_near ||
           (forms.is_short != nullptr && forms.is_short(branch));
  }

  /// A branch with a short reach stays near its target: no other branch could continue it.
  void stay_near(const Instruction& branch) {
    const uint64_t place = address_of(branch);
    lifter_.make_opaque(procedure_, fmt::format("the branch at {:#x} has no long form", place));
  }

  void add_branch(BasicBlock& block, Instruction& last, ControlFlow flow) {
    const uint64_t place = address_of(last);
    const uint64_t target = lifter_.branch_target(place, last);
    auto where = lifter_.resolve_flow(target);
    if (where && *where != target && is_short(last)) where.reset();  // may not reach that far
    const auto location = where ? block_at(program_, *where) : std::nullopt;
    if (location && location->procedure == id_ && flow != ControlFlow::call) {
      last.immediate = 0;
      add_edge(block, location->block, Edge::Kind::taken);
      return;
    }
    if (!location && lifter_.code_at(target) != nullptr) {
      // Keep the displacement: its target does not move.
      const char* where_to = lifter_.map().starts_group(target)
                                 ? "out of all procedures"
                                 : "into the middle of an instruction";
      lifter_.make_opaque(procedure_, fmt::format("it branches {} at {:#x}", where_to, place));
      if (const uint32_t range = lifter_.range_at(target); range == kNone)
        consequences_.kept_ways.push_back(target);
      else
        consequences_.opaque.emplace_back(
            program_.ranges[range].procedure,
            fmt::format("the branch at {:#x} leads into the middle of an instruction", place));
    }
    if (location && flow == ControlFlow::call && has_unusual_link(last))
      consequences_.calls.push_back({id_, last.origin, {location->procedure, location->block}});
    if (location && location->procedure != id_ && is_short(last))
      consequences_.near_branches.emplace_back(id_, location->procedure);
    const CodeLocation to =
        location ? *location
                 : CodeLocation{.where = CodeLocation::Where::address, .address = target};
    refer(last, ReferenceKind::branch, to);
    const uint32_t count = block.instructions.size();
    if (count > 1 && lifter_.machine.facts(block.instructions[count - 2]).prefix)
      refer(block.instructions[count - 2], ReferenceKind::branch, to);
  }

  /// Whether a call leaves its return address where callees may find it as a number. Where the
  /// machine has a usual register for the return address, only hand-written code takes another
  /// register.
  bool has_unusual_link(const Instruction& call) const {
    if (!lifter_.machine.abi.return_address) return true;
    const Operands operands = lifter_.machine.operands(call);
    return operands.size != operands.uses &&
           operands.registers[operands.uses] != lifter_.machine.abi.return_address;
  }

  void fall_through(const CodeRange& range, BlockId id, bool call) {
    BasicBlock& block = procedure_.blocks[id];
    const uint64_t end = program_.address_of(block) + block.origin_size;
    if (call && lifter_.provenance &&
        std::binary_search(lifter_.provenance->dead_ends.begin(),
                           lifter_.provenance->dead_ends.end(), end))
      return;
    if (id + 1 < range.end_block && program_.address_of(procedure_.blocks[id + 1]) == end) {
      add_edge(block, id + 1, Edge::Kind::fall_through);
      // Unwinding and the call's return must both leave the pad's address in the register that the
      // pad's gp load reads, so the pad stays right after the call.
      if (call && lifter_.machine.gp != nullptr &&
          procedure_.blocks[id + 1].has(BasicBlock::kLandingPad))
        block.flags |= BasicBlock::kGluedToNext;
      return;
    }
    // The compiler knew that the call does not return. Only compiled code has unwind information.
    if (call && block.cfi_state != kNone) return;
    const auto where = lifter_.resolve_flow(end);
    const auto next = where ? block_at(program_, *where) : std::nullopt;
    const bool data = next && std::ranges::binary_search(lifter_.data, next->procedure);
    if (data && call)
      lifter_.make_opaque(procedure_, "what is behind its last call may be code or data");
    if (!next || (data && !call)) {
      if (call) return;
      // Code after a trap is not reached either. But a handler may catch the trap and go on: then
      // control must not run into other code that a layout puts there.
      if (block.cfi_state != kNone &&
          lifter_.machine.facts(block.instructions.back()).flow == ControlFlow::none)
        return append(block, lifter_.machine.branches.stop);
      lifter_.make_opaque(procedure_, "control runs off its end");
      return;
    }
    consequences_.falls_into.emplace_back(id_, next->procedure);
    append_branch(id, *next);
  }

  void append(BasicBlock& block, const Instruction& instruction) {
    ArenaList<Instruction> copy;
    copy.assign(arena_, block.instructions.span());
    copy.push_back(arena_, instruction);
    block.instructions = copy;
  }

  /// Appends a branch to `next`, other code into which control falls from this block.
  void append_branch(BlockId id, const CodeLocation& next) {
    Instruction branch = lifter_.machine.branches.branch;
    BasicBlock& block = procedure_.blocks[id];
    if (lifter_.machine.facts(block.instructions.back()).flow == ControlFlow::none &&
        next.procedure != id_) {
      refer(branch, ReferenceKind::branch, next);
      append(block, branch);
      return;
    }
    if (next.procedure == id_) {
      add_edge(block, next.block, Edge::Kind::fall_through);
      return;
    }
    // After a conditional branch, the added branch needs a block of its own.
    refer(branch, ReferenceKind::branch, next);
    BasicBlock added;
    added.origin = kNone;
    added.cfi_state = state_at_end(block);
    added.call_site = block.call_site;
    added.instructions.push_back(arena_, branch);
    consequences_.added.push_back({id_, id, added});
  }

  Lifter& lifter_;
  Program& program_;
  ProcedureId id_;
  Procedure& procedure_;
  Arena& arena_;
  Consequences& consequences_;
  std::vector<FoundReference>::const_iterator found_;  // of the blocks still to come
  std::unordered_map<uint64_t, uint32_t> gp_loads_;
};

/// Whether the return address of a call may serve to find data: hand-written code either skips the
/// data with the call, or lets the callee read it.
class CallChecker {
 public:
  CallChecker(Lifter& lifter, std::span<const Consequences> parts, Effort& effort)
      : lifter_(lifter),
        program_(lifter.program),
        effort_(effort),
        users_(users_of_return_addresses(lifter, callees_of(parts))) {}

  void check(const DoubtfulCall& call) {
    if (program_[call.caller].state == Procedure::State::opaque || !may_read_code(call)) return;
    lifter_.make_opaque(program_[call.caller],
                        fmt::format("it may read data behind the call at {:#x}",
                                    program_.origin_base + call.origin));
  }

 private:
  static std::vector<Callee> callees_of(std::span<const Consequences> parts) {
    std::vector<Callee> callees;
    for (const Consequences& part : parts)
      for (const DoubtfulCall& call : part.calls) callees.push_back(call.callee);
    return callees;
  }

  bool may_read_code(const DoubtfulCall& call) {
    const Procedure& callee = program_[call.callee.procedure];
    const bool own = call.callee.procedure == call.caller;
    // OCaml's runtime in assembly keeps return addresses, to find them in frame tables.
    if (!own && lifter_.ocaml.is_code(callee.address) &&
        lifter_.ocaml.is_code(program_[call.caller].address))
      return false;
    if (!lifter_.machine.abi.return_address)
      return (own && !callee.blocks[call.callee.block].has(BasicBlock::kEntry)) ||
             std::ranges::binary_search(users_, call.callee);
    if (own) return true;
    const Operands operands =
        lifter_.machine.operands(*lifter_.instruction_at(program_.origin_base + call.origin));
    const Register link = operands.registers[operands.uses];
    for (const BasicBlock& block : callee.blocks) {
      if (!Effort::spend(effort_.instructions, block.instructions.size())) return true;
      for (const Instruction& i : block.instructions) {
        if (i.is_pseudo() || lifter_.machine.facts(i).flow != ControlFlow::none) continue;
        const Operands used = lifter_.machine.operands(i);
        if (used.uses != 0 && used.registers[used.uses - 1] == link) return true;
      }
    }
    return false;
  }

  Lifter& lifter_;
  Program& program_;
  Effort& effort_;
  std::vector<Callee> users_;  // of their return addresses, sorted
};

/// Connects all procedures, except for their jumps. The caller adds the returned blocks later, once
/// no step needs the numbers of blocks to be in the order of addresses.
std::vector<AddedBlock> connect_procedures(Lifter& lifter,
                                           std::span<const std::vector<uint32_t>> ranges_of,
                                           Effort& effort) {
  Program& program = lifter.program;
  std::vector<Consequences> parts(kParts);
  for_each_part(program, [&](size_t part, Arena& arena, ProcedureId first, ProcedureId last) {
    for (ProcedureId id = first; id < last; ++id) {
      Connector connector(lifter, id, arena, parts[part]);
      connector.resolve_landing_pads();
      for (const uint32_t range : ranges_of[id]) connector.connect(program.ranges[range]);
      program[id].references.shrink_to_fit();
    }
  });
  const auto append = [](auto& all, const auto& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  CallChecker calls(lifter, parts, effort);
  std::vector<AddedBlock> added;
  for (Consequences& part : parts) {
    for (auto& [procedure, reason] : part.opaque)
      lifter.make_opaque(program[procedure], std::move(reason));
    for (const uint64_t address : part.kept_ways) lifter.keep_way_from(address, kMayLeadTo);
    for (const DoubtfulCall& call : part.calls) calls.check(call);
    append(program.falls_into, part.falls_into);
    append(program.near_branches, part.near_branches);
    append(added, part.added);
  }
  // Only after calls are checked: a call of an own block that only other procedures enter may read
  // data as well.
  for (const Consequences& part : parts)
    for (const auto& [procedure, block] : part.entered)
      program[procedure].blocks[block].flags |= BasicBlock::kEntry | BasicBlock::kAddressTaken;
  std::ranges::sort(program.falls_into);
  std::ranges::sort(program.near_branches);
  return added;
}

void add_blocks(Program& program, std::span<const AddedBlock> added) {
  for (const AddedBlock& each : added) {
    auto& blocks = program[each.procedure].blocks;
    const BlockId fresh = static_cast<BlockId>(blocks.size());
    blocks.push_back(each.block);
    blocks[each.after].successors.push_back(
        *program.arena, Edge{.target = fresh, .kind = Edge::Kind::fall_through});
  }
}

/// Resolves the words of data that hold return addresses. A procedure stays where such a word means
/// another place than the return point of one of its blocks.
void resolve_return_points(Lifter& lifter) {
  Program& program = lifter.program;
  for (CodePointer& pointer : program.code_pointers) {
    if (pointer.target.where != CodeLocation::Where::return_point) continue;
    const uint64_t address = pointer.target.address;
    const CodeLocation found = return_point_at(lifter, address);
    Procedure& procedure = program[found.procedure];
    if (found.block < procedure.blocks.size()) {
      const BasicBlock& block = procedure.blocks[found.block];
      if (program.address_of(block) + block.origin_size == address) {
        pointer.target = found;
        continue;
      }
    }
    lifter.make_opaque(procedure, fmt::format("the return address {:#x} in a table is behind no "
                                              "call of it",
                                              address));
    pointer.target = {.where = CodeLocation::Where::address, .address = address};
  }
}

}  // namespace

void mark_branch_targets(Lifter& lifter) {
  constexpr size_t kPart = 1 << 14;  // instructions
  for (const CodeSection& code : lifter.code) {
    std::vector<std::vector<uint64_t>> targets((code.marks.size() + kPart - 1) / kPart);
    parallel_for(targets.size(), [&](size_t part) {
      const size_t end = std::min(code.marks.size(), (part + 1) * kPart);
      for (size_t i = part * kPart; i < end; ++i) {
        const Instruction& instruction = code.instructions[i];
        if (!is_direct(lifter.machine.facts(instruction).flow)) continue;
        const uint64_t target = lifter.branch_target(code.address(i), instruction);
        if (const auto where = lifter.resolve_flow(target)) targets[part].push_back(*where);
      }
    });
    for (const std::vector<uint64_t>& part : targets)
      for (const uint64_t target : part) lifter.mark(target, kLeader | kReferenced);
  }
}

void connect_blocks(Lifter& lifter) {
  Program& program = lifter.program;
  std::vector<std::vector<uint32_t>> ranges_of(program.procedures.size());
  for (uint32_t i = 0; i < program.ranges.size(); ++i)
    ranges_of[program.ranges[i].procedure].push_back(i);
  Effort effort(lifter);
  const std::vector<AddedBlock> added = connect_procedures(lifter, ranges_of, effort);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    connect_jumps(lifter, id, ranges_of[id], effort);
  check_sums(lifter, ranges_of, effort);
  resolve_return_points(lifter);
  add_blocks(program, added);
  check_landing_pads(lifter);
  keep_targets_of_opaque_code(lifter);
  pin_followers(program);
  for (CodePointer& pointer : program.code_pointers) {
    if (pointer.target.where != CodeLocation::Where::address) continue;
    const auto location = block_at(program, pointer.target.address);
    if (location) pointer.target = *location;
  }
}

}  // namespace respike
