#pragma once
// What the instrumenter asks of the analyses of a program.

#include <optional>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/gp_validity.h"
#include "optimizer/analysis/register_flow.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/program.h"

namespace respike {

/// What is known in front of an instruction.
struct PointFacts {
  RegisterSet live;  // registers that may still be read
  bool gp = false;   // the global pointer register holds the procedure's gp
};

class CodeFacts {
 public:
  /// The program must outlive the facts, and they are those of the program as it is now.
  explicit CodeFacts(const Program& program);

  /// One for each instruction of a block.
  std::vector<PointFacts> points(ProcedureId procedure, BlockId block) const;
  /// Whether some call, or code that is not known, may enter a procedure at its first block.
  bool first_block_entered(ProcedureId procedure) const;
  /// The slot of the linkage table (.got) that the call which ends a block loads its target from:
  /// it is a call of a name, which the linker binds once and for all. nullopt: no such call.
  std::optional<uint64_t> linkage_slot(ProcedureId procedure, BlockId block) const;
  const CallGraph& calls() const { return calls_; }

 private:
  const Program& program_;
  CallGraph calls_;
  RegisterFlow registers_;
  GpValidity gp_;
};

}  // namespace respike
