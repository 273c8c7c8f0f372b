// Where in a procedure a probe may stand.
//
// Problem: some code must stay contiguous, or is recognised by what comes first. Between a
// load-locked and its store-conditional, memory accesses make the store fail; in the shadow of a
// trap, software reads the code again; after a system call, another number of processes may
// continue; the target of an indirect branch may have to start with a mark (endbr64).
//
// Idea: one pass over a block carries along which sequences are open. The block after it matters
// for a probe between the two: not in a glued pair, not before the mark at a return point, and not
// before padding that a landing pad follows, since lifting recognises the pad by that padding.
//
// Example: `ldq_l t0,0(a0); addq t0,1,t0; stq_c t0,0(a0); beq t0,...` has an open place before
// ldq_l and one before beq, and none in between.

#include "instrument/probe_places.h"

#include <algorithm>

#include "instrument/prolog_places.h"
#include "optimizer/ir/lookup.h"

namespace respike {

bool is_call(const Machine& machine, const BasicBlock& block) {
  return is_call(machine.facts(block.instructions.back()).flow);
}

std::vector<bool> open_places(const Machine& machine, const BasicBlock& block, bool glued_before) {
  bool reserved = false, shadow = glued_before, in_system = false, first = true;
  std::vector<bool> result;
  result.reserve(block.instructions.size());
  for (const Instruction& instruction : block.instructions) {
    result.push_back(!reserved && !shadow && !in_system &&
                     !(first && machine.facts(instruction).marks_target));
    if (instruction.is_pseudo()) continue;
    first = false;
    in_system |= machine.facts(instruction).system_call;
    switch (machine.facts(instruction).role) {
      case SequenceRole::none:
        break;
      case SequenceRole::reservation_begin:
        reserved = true;
        break;
      case SequenceRole::shadow_begin:
        shadow = true;
        break;
      case SequenceRole::reservation_end:  // the open sequence may be of either kind
      case SequenceRole::shadow_end:
        reserved = shadow = false;
        break;
    }
  }
  return result;
}

std::vector<bool> glued_before(const Machine& machine, const Procedure& procedure) {
  std::vector<bool> result(procedure.blocks.size());
  for (const BasicBlock& block : procedure.blocks)
    if (block.has(BasicBlock::kGluedToNext) && !is_call(machine, block))
      result[block.edge(Edge::Kind::fall_through)->target] = true;
  return result;
}

namespace {

/// Whether the call at the end of the block returns to a mark: indirect branches may also arrive at
/// the return address, as after setjmp(). A landing pad has an address of its own.
bool returns_to_mark(const Machine& machine, const Procedure& procedure, const BasicBlock& block) {
  const Edge* next = block.edge(Edge::Kind::fall_through);
  if (next == nullptr || !is_call(machine, block) ||
      procedure.blocks[next->target].has(BasicBlock::kLandingPad))
    return false;
  for (const Instruction& instruction : procedure.blocks[next->target].instructions)
    if (!instruction.is_pseudo()) return machine.facts(instruction).marks_target;
  return false;
}

bool is_padding(const Machine& machine, const BasicBlock& block) {
  return std::ranges::all_of(block.instructions, [&](const Instruction& instruction) {
    return instruction.is_pseudo() ||
           (instruction.opcode != kInvalid && machine.facts(instruction).nop);
  });
}

/// Whether control, if it continued after the block, would cross padding into code that loads gp
/// from its own address, as a landing pad does. In an image without unwind tables the only sign
/// that such code is a pad is the call before the padding, which does not return (lift/gp.cc).
bool runs_into_pad(const Machine& machine, const Procedure& procedure, ProcedureId id,
                   const BasicBlock& block) {
  const Edge* next = block.edge(Edge::Kind::fall_through);
  bool padded = is_padding(machine, block);
  for (size_t steps = 0; next != nullptr && steps < procedure.blocks.size(); ++steps) {
    const BasicBlock& behind = procedure.blocks[next->target];
    if (is_padding(machine, behind)) {
      padded = true;
      next = behind.edge(Edge::Kind::fall_through);
      continue;
    }
    const auto first = std::ranges::find_if_not(behind.instructions, &Instruction::is_pseudo);
    const Reference* load = reference_of(procedure, *first);
    return padded && load != nullptr && is_gp_load(load->kind) &&
           load->target == CodeLocation{.procedure = id, .block = next->target};
  }
  return false;
}

}  // namespace

ProbePlaces find_probe_places(const Program& program, ProcedureId id) {
  const Procedure& procedure = program[id];
  const std::vector<bool> glued = glued_before(*program.machine, procedure);
  const bool keeps_prologs = reads_prologs(program);
  const bool no_unwind_tables = program.unwind.cies.empty();
  ProbePlaces places;
  places.block.resize(procedure.blocks.size());
  places.after_block.resize(procedure.blocks.size());
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const BasicBlock& block = procedure.blocks[b];
    std::vector<bool> open = open_places(*program.machine, block, glued[b]);
    if (keeps_prologs) close_prologs(program, procedure, block, open);
    const bool pads = no_unwind_tables &&
                      (is_call(*program.machine, block) || is_padding(*program.machine, block));
    const bool before_pad = pads && runs_into_pad(*program.machine, procedure, id, block);
    places.block[b] = std::find(open.begin(), open.end(), true) != open.end() &&
                      !(before_pad && !is_call(*program.machine, block));
    places.after_block[b] = !block.has(BasicBlock::kGluedToNext) && !before_pad &&
                            !returns_to_mark(*program.machine, procedure, block);
  }
  return places;
}

}  // namespace respike
