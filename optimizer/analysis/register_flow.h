#pragma once
// Registers across procedures: which registers every procedure reads and changes and, from that,
// which registers are live at any point of the image (Goodwin: Interprocedural Dataflow Analysis in
// an Executable Optimizer, PLDI 1997; Spike, section "Optimizer").
//
// The program behaves the same if a register is overwritten at a point where it is reported dead.
// Registers about which too little is known count as live. The stack pointer is always live.

#include <cstdint>
#include <memory>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/program.h"

namespace respike {

/// A procedure as seen by callers that enter it at a certain block.
struct RegisterSummary {
  RegisterSet used;     // may be read before it is written: call-used
  RegisterSet defined;  // is written on every path that returns: call-defined
  RegisterSet killed;   // may hold another value after the call: call-killed
};

class RegisterFlow {
 public:
  /// The program and the call graph must outlive this object. After changes of the program a new
  /// object or update() is needed. Linear in the image; keeps about 55 bytes per block.
  RegisterFlow(const Program& program, const CallGraph& calls);
  ~RegisterFlow();
  RegisterFlow(RegisterFlow&&) noexcept;

  /// Solves the blocks of a procedure anew, after they changed and CallGraph::update() was called.
  /// The old facts about the procedure must still hold: it reads no register before writing it that
  /// it did not read before, changes no live register that it preserved, and moves no value across
  /// a call that may change it. Its entries keep their numbers. Linear in the procedure.
  void update(ProcedureId procedure);

  /// Live before instruction `index` of a block; if `index` is the number of instructions, after
  /// the last instruction, before a callee or a successor starts. Takes a walk from the block's
  /// end.
  RegisterSet live_before(ProcedureId procedure, BlockId block, uint32_t index) const;
  RegisterSet live_in(ProcedureId procedure, BlockId block) const;
  /// Live before each instruction of a block, and after the last instruction.
  std::vector<RegisterSet> live_points(ProcedureId procedure, BlockId block) const;

  /// The block must be one of CallGraph::entries_of().
  RegisterSummary summary(ProcedureId procedure, BlockId entry) const;
  /// Live when the procedure returns, for all its callers together.
  RegisterSet live_at_exit(ProcedureId procedure) const;
  /// The registers that an unknown callee that follows the calling standard may read.
  RegisterSet unknown_uses() const;

  class Solution;

 private:
  std::unique_ptr<Solution> solution_;
};

}  // namespace respike
