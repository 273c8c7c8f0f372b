#pragma once
// Facts about a program's code for the instrumenter, from the analyses.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/gp_validity.h"
#include "optimizer/analysis/register_flow.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/program.h"

namespace respike {

/// What is known before an instruction.
struct PointFacts {
  RegisterSet live;  // registers that may still be read
  bool gp = false;   // the global pointer register holds the procedure's gp
};

/// The bytes of an instruction of the input; none of an added instruction.
std::span<const uint8_t> input_bytes(const Program& program, const Instruction& instruction);

class CodeFacts {
 public:
  /// The program must outlive the facts. The facts describe the program as it is at construction.
  explicit CodeFacts(const Program& program);

  /// The facts before each instruction of a block.
  std::vector<PointFacts> points(ProcedureId procedure, BlockId block) const;
  /// Whether some call, or unknown code, may enter a procedure at its first block.
  bool first_block_entered(ProcedureId procedure) const;
  /// The slot of the linkage table from which the call or jump at the end of a block loads its
  /// target, perhaps in a stub that the linker made: a call by name, which the dynamic linker binds
  /// once. nullopt: no such call.
  std::optional<uint64_t> linkage_slot(ProcedureId procedure, BlockId block) const;
  /// The names that a loader binds to slots, by address of the slot. None on ELF, where dynamic
  /// relocations say the same.
  std::span<const std::pair<uint64_t, std::string_view>> imports() const { return imports_; }
  /// Whether a procedure is a linker's stub that jumps to an import.
  bool is_import_stub(ProcedureId procedure) const;
  const CallGraph& calls() const { return calls_; }

 private:
  std::optional<uint64_t> slot_by_gp(const Procedure& procedure, const BasicBlock& block) const;
  std::optional<uint64_t> slot_by_address(const BasicBlock& block) const;
  std::optional<uint64_t> slot_of(const Instruction& instruction) const;
  std::optional<uint64_t> slot_of_stub(uint64_t address) const;

  const Program& program_;
  CallGraph calls_;
  RegisterFlow registers_;
  GpValidity gp_;
  std::vector<std::pair<uint64_t, std::string_view>> imports_;  // by address
};

}  // namespace respike
