#pragma once
// Whether a procedure with a hot part does what it did.

#include <optional>
#include <span>
#include <string>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/register_flow.h"
#include "optimizer/check/procedure_before.h"
#include "optimizer/ir/program.h"

namespace respike {

class HotColdProof {
 public:
  /// Of a procedure before it is changed. All must outlive the proof; `flow` and `calls` are of the
  /// program before any change of it.
  HotColdProof(const Program& program, ProcedureId id, const CallGraph& calls,
               const RegisterFlow& flow);

  /// What is not proven of the procedure as it is now: one clause, or nothing. `copies`: per block
  /// of it which block it was before; kNone: it is a stub. If that is wrong, nothing is proven.
  std::optional<std::string> find_fault(std::span<const BlockId> copies) const;

  /// Makes the procedure and its jump tables what they were.
  void restore(Program& program) const { before_.restore(program); }

 private:
  const Program& program_;
  const ProcedureBefore before_;
};

}  // namespace respike
