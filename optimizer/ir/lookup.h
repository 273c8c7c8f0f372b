#pragma once
// Questions about code that many passes ask. Example: the last instruction of block 3 calls `f`.
// branch_of() returns the Reference that names `f`, and BlockNumbers the number of the block among
// all blocks of the program.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// One flat numbering of all blocks of a program, for tables with an entry per block: first the
/// blocks of procedure 0, then those of procedure 1. Valid until blocks are added.
class BlockNumbers {
 public:
  BlockNumbers() = default;
  explicit BlockNumbers(const Program& program);

  uint32_t operator()(ProcedureId procedure, BlockId block) const {
    return first_[procedure] + block;
  }
  uint32_t count() const { return first_.back(); }
  /// The block with a given number. Binary search.
  std::pair<ProcedureId, BlockId> at(uint32_t number) const;

 private:
  std::vector<uint32_t> first_ = {0};  // per procedure: the number of its block 0; and the end
};

/// The procedure whose entry is at an address of the input. Binary search.
inline std::optional<ProcedureId> procedure_at_entry(const Program& program, uint64_t address) {
  const auto found = std::ranges::lower_bound(program.procedures, address, {}, &Procedure::address);
  if (found == program.procedures.end() || found->address != address) return std::nullopt;
  return static_cast<ProcedureId>(found - program.procedures.begin());
}

/// The pointer to code in the word of data at an address; nullptr when there is none. Binary
/// search. Program::code_pointers has to be sorted already.
inline const CodePointer* pointer_at(const Program& program, uint64_t address) {
  const auto found =
      std::ranges::lower_bound(program.code_pointers, address, {}, &CodePointer::address);
  if (found == program.code_pointers.end() || found->address != address) return nullptr;
  return &*found;
}

/// The Reference of an instruction; nullptr when it has none. The index of the reference has to be
/// right: for a program that lift() did not make, find_violation() checks this first.
inline const Reference* reference_of(const Procedure& procedure, const Instruction& instruction) {
  if (!instruction.has_reference()) return nullptr;
  return &procedure.references[static_cast<uint32_t>(instruction.immediate)];
}

/// The target of a direct branch or call that has no edge; nullptr for other instructions.
inline const Reference* branch_of(const Procedure& procedure, const Instruction& last) {
  const Reference* reference = reference_of(procedure, last);
  return reference != nullptr && reference->kind == ReferenceKind::branch ? reference : nullptr;
}

/// Whether the reference is half of the number by which code loads its gp.
inline bool is_gp_load(ReferenceKind kind) {
  return kind == ReferenceKind::gp_load_high || kind == ReferenceKind::gp_load_low;
}
inline bool is_gp_load(const Procedure& procedure, const Instruction& instruction) {
  const Reference* reference = reference_of(procedure, instruction);
  return reference != nullptr && is_gp_load(reference->kind);
}

/// Bytes of a word of data that holds an address of code in the form `kind`.
inline unsigned pointer_size(ReferenceKind kind) {
  return kind == ReferenceKind::address64 || kind == ReferenceKind::pc_relative64 ? 8 : 4;
}

/// The number of instructions of a block, without pseudo-instructions.
inline uint64_t count_instructions(const BasicBlock& block) {
  uint64_t count = 0;
  for (const Instruction& instruction : block.instructions) count += !instruction.is_pseudo();
  return count;
}

/// The unwind state after the last instruction of a block.
inline uint32_t state_at_end(const BasicBlock& block) {
  uint32_t state = block.cfi_state;
  for (const Instruction& instruction : block.instructions)
    if (instruction.is_pseudo()) state = static_cast<uint32_t>(instruction.immediate);
  return state;
}

}  // namespace respike
