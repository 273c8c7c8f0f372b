// Facts about places in the code, from the analyses of the whole program.
//
// Most answers come from the call graph, the liveness of registers and the validity of gp. This
// file itself finds the slot of the linkage table from which a call loads its target, in one form
// per kind of machine: an operand that holds the slot's whole address, perhaps in the stub that a
// direct call leads to (x86-64); a load relative to gp (Alpha, Itanium); an address in two halves
// (Windows NT).
//
// Example: on x86-64 `call 0x1030` leads to the stub `endbr64; jmp *0x2fc8(%rip)`, which is not a
// procedure of the program; the slot is the word that the jump loads.
//
// In a stub of an import library, every register that stubs may not change is live, since the
// imported function may follow any convention.

#include "instrument/code_facts.h"

#include <algorithm>

#include "optimizer/image/image.h"
#include "optimizer/image/imports.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/imports.h"
#include "optimizer/machine/machine.h"
#include "optimizer/machine/probes.h"

namespace respike {

std::span<const uint8_t> input_bytes(const Program& program, const Instruction& instruction) {
  if (program.image == nullptr || instruction.origin == kNone) return {};
  return program.image
      ->bytes_at(program.origin_base + instruction.origin,
                 program.machine->codec.size({&instruction, 1}))
      .value_or(std::span<const uint8_t>());
}

CodeFacts::CodeFacts(const Program& program)
    : program_(program), calls_(program), registers_(program, calls_), gp_(program, calls_) {
  if (program.image != nullptr) imports_ = import_slots(*program.image);
}

std::vector<PointFacts> CodeFacts::points(ProcedureId procedure, BlockId block) const {
  const auto live = registers_.live_points(procedure, block);
  const auto gp = gp_.valid_points(procedure, block);
  std::vector<PointFacts> result;
  for (size_t i = 0; i + 1 < live.size(); ++i) result.push_back({live[i], gp[i]});
  if (!is_import_stub(procedure)) return result;
  // The function may use any convention, such as the convention of division routines.
  RegisterSet kept = RegisterSet::first(program_.machine->register_count);
  kept -= RegisterSet(program_.machine->stub_registers);
  for (PointFacts& each : result) each.live |= kept;
  return result;
}

bool CodeFacts::is_import_stub(ProcedureId id) const {
  if (imports_.empty() || program_[id].blocks.size() != 1) return false;
  const Instruction& last = program_[id].blocks[0].instructions.back();
  return program_.machine->facts(last).flow == ControlFlow::indirect_jump &&
         linkage_slot(id, 0).has_value();
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
  const Instruction& last = block.instructions.back();
  if (!imports_.empty()) return slot_by_address(block);
  if (machine.imports == nullptr)
    return machine.facts(last).flow == ControlFlow::indirect_call ? slot_by_gp(procedure, block)
                                                                  : std::nullopt;
  if (const Reference* reference = branch_of(procedure, last))
    return reference->target.where == CodeLocation::Where::address
               ? slot_of_stub(reference->target.address)
               : std::nullopt;
  if (last.has_reference()) return std::nullopt;
  return slot_of(last);
}

/// The slot from which an indirect call or jump loads its target. The instruction holds the whole
/// address.
std::optional<uint64_t> CodeFacts::slot_of(const Instruction& instruction) const {
  const auto flow = program_.machine->facts(instruction).flow;
  if (flow != ControlFlow::indirect_call && flow != ControlFlow::indirect_jump) return std::nullopt;
  const auto offset = program_.machine->relative_address(instruction);
  if (!offset) return std::nullopt;
  const uint64_t slot = program_.origin_base + static_cast<uint64_t>(*offset);
  const Section* section = program_.image->section_at(slot);
  if (section == nullptr || !section->name.starts_with(kLinkageTable)) return std::nullopt;
  return slot;
}

/// The slot of a linker's stub, such as `endbr64; jmp *slot(%rip)`.
std::optional<uint64_t> CodeFacts::slot_of_stub(uint64_t address) const {
  constexpr size_t kLongestStub = 32;  // bytes
  const Section* section = program_.image->section_at(address);
  if (section == nullptr || !section->executable() ||
      address - section->address >= section->contents.size())
    return std::nullopt;
  const uint64_t offset = address - section->address;
  auto code =
      section->contents.subspan(offset, std::min(section->contents.size() - offset, kLongestStub));
  const Codec& codec = program_.machine->codec;
  uint64_t at = address;
  for (unsigned count = 0; count < 2 && !code.empty(); ++count) {
    const unsigned length = codec.length(code);
    Instruction instruction;
    codec.decode(code.first(length), static_cast<uint32_t>(at - program_.origin_base),
                 &instruction);
    if (program_.machine->facts(instruction).flow == ControlFlow::indirect_jump)
      return slot_of(instruction);
    if (!program_.machine->facts(instruction).marks_target) return std::nullopt;
    code = code.subspan(length);
    at += length;
  }
  return std::nullopt;
}

std::optional<uint64_t> CodeFacts::slot_by_gp(const Procedure& procedure,
                                              const BasicBlock& block) const {
  const Machine& machine = *program_.machine;
  const auto gp = machine.global_pointer();
  const Section* table = program_.image->section_named(kLinkageTable);
  if (!gp || !procedure.gp || table == nullptr) return std::nullopt;
  const auto called = machine.probes->jump_register(block.instructions.back());
  for (uint32_t i = block.instructions.size() - 1; i-- > 0;) {
    const Instruction& instruction = block.instructions[i];
    if (instruction.is_pseudo()) continue;
    const Operands operands = machine.operands(instruction);
    const auto defined = std::span(operands.registers).subspan(operands.uses);
    const auto end = defined.begin() + (operands.size - operands.uses);
    if (!called || std::find(defined.begin(), end, *called) == end) continue;
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

/// The slot of an import. The code forms the slot's address in two halves: `ldah t,high; ldl
/// t,low(t); jsr ra,(t)`, or the same with jmp in a stub of an import library.
std::optional<uint64_t> CodeFacts::slot_by_address(const BasicBlock& block) const {
  const Machine& machine = *program_.machine;
  const ControlFlow flow = machine.facts(block.instructions.back()).flow;
  if (machine.probes == nullptr ||
      (flow != ControlFlow::indirect_call && flow != ControlFlow::indirect_jump))
    return std::nullopt;
  std::optional<Register> wanted = machine.probes->jump_register(block.instructions.back());
  std::optional<int64_t> formed;
  for (uint32_t i = block.instructions.size() - 1; wanted && i-- > 0;) {
    const Instruction& instruction = block.instructions[i];
    if (instruction.is_pseudo()) continue;
    const Operands operands = machine.operands(instruction);
    const auto defined = std::span(operands.registers).subspan(operands.uses);
    const auto end = defined.begin() + (operands.size - operands.uses);
    if (std::find(defined.begin(), end, *wanted) == end) continue;
    if (!formed) {  // the lower half
      if (!machine.fixups.is_lower_half(instruction) || operands.uses != 1) return std::nullopt;
      formed = machine.fixups.field(instruction, ReferenceKind::address_low);
      wanted = operands.registers[0];
      continue;
    }
    if (!machine.fixups.is_upper_half(instruction) || operands.uses != 0) return std::nullopt;
    const auto slot = static_cast<uint64_t>(
        *formed + machine.fixups.field(instruction, ReferenceKind::address_high));
    const auto known =
        std::ranges::lower_bound(imports_, slot, {}, &decltype(imports_)::value_type::first);
    if (known == imports_.end() || known->first != slot) return std::nullopt;
    return slot;
  }
  return std::nullopt;
}

}  // namespace respike
