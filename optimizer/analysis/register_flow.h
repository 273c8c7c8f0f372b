#pragma once
// Registers across procedures: what every procedure uses, changes and needs, and from that which
// registers are live at any point of the image (Goodwin: Interprocedural Dataflow Analysis in an
// Executable Optimizer, PLDI 1997; Spike, section "Optimizer").
//
// A register that is reported dead at a point may be overwritten there with anything: the program
// behaves the same. What is not known counts as live. The stack pointer is always live.

#include <cstdint>
#include <memory>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/program.h"

namespace respike {

/// A procedure as its callers see it, when they enter it at some block.
struct RegisterSummary {
  RegisterSet used;     // may be read before it is written: call-used
  RegisterSet defined;  // is written on every path that returns: call-defined
  RegisterSet killed;   // may hold another value after the call: call-killed
};

class RegisterFlow {
 public:
  /// Works on the program as it is: later changes of it need a new one, or update(). Both must
  /// outlive it. Linear in the image; about 55 bytes are kept per block.
  RegisterFlow(const Program& program, const CallGraph& calls);
  ~RegisterFlow();
  RegisterFlow(RegisterFlow&&) noexcept;

  /// Finds out about the blocks of a procedure again, after these changed. CallGraph::update() comes
  /// first. The change must leave true what was known of the procedure: it reads no more than it
  /// did before it writes it, leaves no live register changed that it kept, and moves no value
  /// across a call that may change it. Its entries keep their numbers. Linear in the procedure.
  void update(ProcedureId procedure);

  /// Live before instruction `index` of a block. With the number of instructions for `index`:
  /// behind the last one, before a callee or a successor starts. Goes back from the block's end.
  RegisterSet live_before(ProcedureId procedure, BlockId block, uint32_t index) const;
  RegisterSet live_in(ProcedureId procedure, BlockId block) const;
  /// Live before each instruction of a block, and behind the last one.
  std::vector<RegisterSet> live_points(ProcedureId procedure, BlockId block) const;

  /// The block must be one of CallGraph::entries_of().
  RegisterSummary summary(ProcedureId procedure, BlockId entry) const;
  /// Live when the procedure returns to its callers, all of them together.
  RegisterSet live_at_exit(ProcedureId procedure) const;
  /// What an unknown callee that follows the calling standard may read.
  RegisterSet unknown_uses() const;

  class Solution;

 private:
  std::unique_ptr<Solution> solution_;
};

}  // namespace respike
