// Which procedures may be taken apart, where unwinders read the code of prologs.
//
// A prolog has to stay contiguous, and each fragment needs a prolog before it that can be copied
// (transform/prolog_copies.h). So a prolog has to lie in one block, which starts at the entry.
// Otherwise the procedure stays.
//
// Example: a branch back to the second instruction of the prolog cuts the prolog into two blocks.
//
// In an epilog unwinders look ahead: once the stack pointer is raised, the return has to follow
// (Windows NT for Alpha Systems Calling Standard, section 3.2.6). So a block that changes the stack
// pointer after the prolog stays before the block into which control falls.

#include <algorithm>

#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lifter.h"

namespace respike {

/// Handlers look up the place of an exception in ranges of the procedure. A handler stays as well:
/// if it has no name in the image, its name is its address, and comparisons go by the name.
static void keep_handler(Lifter& lifter, Procedure& procedure, const Cie& cie) {
  lifter.pin(procedure, "an exception handler knows ranges of it");
  const uint32_t range = lifter.range_at(cie.personality);
  if (range != kNone)
    lifter.pin(lifter.program[lifter.program.ranges[range].procedure], "it handles exceptions");
}

void keep_odd_prologs(Lifter& lifter) {
  const UnwindFormat* format = unwind_format_of(lifter.image);
  if (format == nullptr || !format->reads_prologs) return;
  Program& program = lifter.program;
  std::vector<bool> described(program.procedures.size());
  for (const Fde& fde : lifter.unwind.fdes) {
    const uint32_t range = lifter.range_at(fde.start);
    if (range == kNone) continue;
    described[program.ranges[range].procedure] = true;
    // A table entry is kept, or written anew as a whole.
    const auto& ranges = program.ranges;
    if (ranges[range].end < fde.end)
      for (uint32_t r = range; r < ranges.size() && ranges[r].start < fde.end; ++r)
        lifter.pin(program[ranges[r].procedure], "its entry of the function table is of more code");
    if (fde.rows.empty()) continue;
    const CfiState& state = lifter.unwind.tables.states[fde.rows.front().state];
    const Cie& cie = lifter.unwind.tables.cies[state.cie];
    if (!cie.initial_instructions.empty())
      keep_handler(lifter, program[ranges[range].procedure], cie);
    if (fde.rows.size() < 2) continue;
    Procedure& procedure = program[program.ranges[range].procedure];
    const auto location = block_at(program, fde.start);
    const uint64_t prolog_end = fde.rows.back().address;
    const auto is_whole = [&](const BasicBlock& block) {
      const uint64_t end = program.address_of(block) + block.origin_size;
      const bool branches =
          lifter.machine.facts(block.instructions.back()).flow != ControlFlow::none;
      return end > prolog_end || (end == prolog_end && !branches);
    };
    const bool whole = location && is_whole(procedure.blocks[location->block]);
    if (!whole) lifter.pin(procedure, "its prolog has several blocks");
  }
  // Where a part of a procedure has no entry in the table, its frame is unknown there.
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    const auto& blocks = program[id].blocks;
    if (described[id] && std::ranges::any_of(blocks, [](const BasicBlock& block) {
          return block.origin != kNone && block.cfi_state == kNone;
        }))
      lifter.pin(program[id], "the function table describes only a part of it");
  }
}

static bool changes_stack_behind_prolog(const BasicBlock& block, const Machine& machine) {
  bool changes = false;
  for (const Instruction& instruction : block.instructions) {
    if (instruction.is_pseudo()) {
      changes = false;  // the prolog went on up to here
      continue;
    }
    const Operands operands = machine.operands(instruction);
    const auto end = operands.registers + operands.size;
    changes |= std::find(operands.registers + operands.uses, end, machine.abi.stack_pointer) != end;
  }
  return changes;
}

void glue_epilogs(const Image& image, Program& program, const Machine& machine) {
  const UnwindFormat* format = unwind_format_of(image);
  if (format == nullptr || !format->reads_prologs) return;
  for (Procedure& procedure : program.procedures) {
    if (!procedure.movable()) continue;
    for (BlockId id = 0; id < procedure.blocks.size(); ++id) {
      BasicBlock& block = procedure.blocks[id];
      const Edge* next = block.edge(Edge::Kind::fall_through);
      if (block.origin == kNone || next == nullptr || next->target != id + 1 ||
          machine.facts(block.instructions.back()).flow != ControlFlow::none ||
          program.address_of(procedure.blocks[id + 1]) !=
              program.address_of(block) + block.origin_size)
        continue;
      const bool prolog_goes_on = state_at_end(block) != procedure.blocks[id + 1].cfi_state;
      if (!prolog_goes_on && changes_stack_behind_prolog(block, machine))
        block.flags |= BasicBlock::kGluedToNext;
    }
  }
}

}  // namespace respike
