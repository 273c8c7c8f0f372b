#include "instrument/code_facts.h"

#include <algorithm>
#include <span>

#include "optimizer/image/image.h"
#include "optimizer/machine/machine.h"
#include "optimizer/machine/probes.h"

namespace respike {

CodeFacts::CodeFacts(const Program& program)
    : program_(program), calls_(program), registers_(program, calls_), gp_(program, calls_) {}

std::vector<PointFacts> CodeFacts::points(ProcedureId procedure, BlockId block) const {
  const auto live = registers_.live_points(procedure, block);
  const auto gp = gp_.valid_points(procedure, block);
  std::vector<PointFacts> result;
  for (size_t i = 0; i + 1 < live.size(); ++i) result.push_back({live[i], gp[i]});
  return result;
}

bool CodeFacts::first_block_entered(ProcedureId procedure) const {
  const auto outside = calls_.outside_entries_of(procedure);
  const auto callers = calls_.callers_of(procedure);
  return std::find(outside.begin(), outside.end(), 0) != outside.end() ||
         std::any_of(callers.begin(), callers.end(),
                     [&](uint32_t call) { return calls_.calls()[call].entry == 0; });
}

std::optional<uint64_t> CodeFacts::linkage_slot(ProcedureId id, BlockId block_id) const {
  const Machine& machine = *program_.machine;
  const Procedure& procedure = program_[id];
  const BasicBlock& block = procedure.blocks[block_id];
  const auto gp = machine.global_pointer();
  const Section* table = program_.image->section_named(kLinkageTable);
  if (!gp || !procedure.gp || table == nullptr) return std::nullopt;
  const Register called = machine.probes->jump_register(block.instructions.back());
  for (uint32_t i = block.instructions.size() - 1; i-- > 0;) {
    const Instruction& instruction = block.instructions[i];
    if (instruction.is_pseudo()) continue;
    const Operands operands = machine.operands(instruction);
    const auto defined = std::span(operands.registers).subspan(operands.uses);
    const auto end = defined.begin() + (operands.size - operands.uses);
    if (std::find(defined.begin(), end, called) == end) continue;
    if (!machine.fixups.is_lower_half(instruction) || instruction.has_reference())
      return std::nullopt;
    if (operands.uses == 0 || operands.registers[operands.uses - 1] != *gp) return std::nullopt;
    const uint64_t slot = *procedure.gp + static_cast<uint64_t>(machine.fixups.field(
                                              instruction, ReferenceKind::gp_low));
    if (slot - table->address >= table->size) return std::nullopt;
    return slot;
  }
  return std::nullopt;
}

}  // namespace respike
