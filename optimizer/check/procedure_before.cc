// Facts about the procedure before any change.
//
// All facts are gathered first: the analyses read the program when they are asked, and would see
// the changed program later. Example: find_frame_shape() reads the saves of registers in the code,
// which the optimizations may remove.

#include "optimizer/check/procedure_before.h"

#include <algorithm>

#include "optimizer/analysis/frame_shape.h"
#include "optimizer/analysis/private_slots.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

void copy_lists(Procedure& procedure, Arena& arena) {
  for (BasicBlock& block : procedure.blocks) {
    const ArenaList<Instruction> instructions = block.instructions;
    const ArenaList<Edge> successors = block.successors;
    block.instructions.assign(arena, instructions.span());
    block.successors.assign(arena, successors.span());
  }
}

}  // namespace

ProcedureBefore::ProcedureBefore(const Program& program, ProcedureId number,
                                 const CallGraph& call_graph, const RegisterFlow& flow)
    : id(number), procedure(program[number]) {
  const Machine& machine = *program.machine;
  const Abi& abi = machine.abi;
  copy_lists(procedure, arena);
  const auto entry_blocks = call_graph.entries_of(id);
  entries.assign(entry_blocks.begin(), entry_blocks.end());
  for (BlockId b = 0; b < program[id].blocks.size(); ++b) {
    live_in.push_back(flow.live_in(id, b));
    live_at_end.push_back(flow.live_before(id, b, program[id].blocks[b].instructions.size()));
  }
  for (const JumpTable& table : procedure.jump_tables) {
    const auto [first, last] = entries_of(program, table);
    for (size_t i = first; i < last; ++i)
      table_entries.push_back({i, table.jump, program.code_pointers[i].target});
  }
  std::ranges::stable_sort(table_entries, {}, [](const TableEntry& e) { return e.jump; });
  RegisterSet preserved(std::span(abi.preserved));
  preserved.add(abi.stack_pointer);
  const RegisterSet all = RegisterSet::first(machine.register_count);
  for (const Call& call : call_graph.calls_of(id)) {
    const BlockId b = call.block;
    calls.emplace(b, call);
    defined[b] = {};
    if (call.known()) {
      const RegisterSummary summary = flow.summary(call.callee, call.entry);
      read[b] = summary.used;
      defined[b] = summary.defined;
      killed[b] = summary.killed;
    } else {
      // The code before the call may pass it arguments in any scratch register.
      read[b] = call.standard ? flow.unknown_uses() | (all - preserved) : all;
      // By the standard no code reads scratch registers after the call.
      if (call.standard) defined[b] = RegisterSet(std::span(abi.scratch));
      killed[b] = call.standard ? all - preserved : all;
    }
  }
  kept = RegisterSet(std::span(abi.preserved));
  for (const BlockId entry : entry_blocks) kept -= flow.summary(id, entry).killed;
  const FrameShape shape = find_frame_shape(program, id, call_graph.calls_of(id), entry_blocks);
  for (const FrameShape::Slot& slot : shape.slots) slots.push_back(slot.offset);
  const PrivateSlots own = find_private_slots(program, id, shape, entry_blocks);
  slots.insert(slots.end(), own.offsets.begin(), own.offsets.end());
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  for (const int64_t slot : slots) is_private.push_back(own.find(slot).has_value());
  for (const FrameShape::Step& step : shape.steps) {
    const uint16_t opcode = program[id].blocks[step.block].instructions[step.index].opcode;
    if (step.role == FrameShape::Role::save) saves.insert(opcode);
    if (step.role == FrameShape::Role::restore) restores.insert(opcode);
  }
  const uint32_t state = program[id].blocks.front().cfi_state;
  if (state < program.unwind.states.size()) cfa_at_entry = program.unwind.states[state].cfa_offset;
}

void ProcedureBefore::restore(Program& program) const {
  program[id] = procedure;
  copy_lists(program[id], *program.arena);
  for (const TableEntry& entry : table_entries)
    program.code_pointers[entry.pointer].target = entry.target;
}

}  // namespace respike
