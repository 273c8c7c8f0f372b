#pragma once
// Whether a procedure with a hot part does the same as without it.

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
  /// Made before the procedure is changed. All arguments must outlive the proof; `flow` and `calls`
  /// are of the program before any change.
  HotColdProof(const Program& program, ProcedureId id, const CallGraph& calls,
               const RegisterFlow& flow);

  /// The first fact that cannot be proven about the procedure as it is now, as one clause; nullopt
  /// when all is proven. `copies`: for each block of the procedure, the block of the original of
  /// which it is a copy; kNone: the block is a stub. Wrong copies make the proof fail, never
  /// succeed.
  std::optional<std::string> find_fault(std::span<const BlockId> copies) const;

  /// Undoes all changes of the procedure and its jump tables.
  void restore(Program& program) const { before_.restore(program); }

 private:
  const Program& program_;
  const ProcedureBefore before_;
};

}  // namespace respike
