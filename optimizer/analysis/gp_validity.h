#pragma once
// Where the register for the global pointer certainly holds the procedure's own gp, so that code
// inserted there can form addresses from it.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/ir/program.h"
#include "optimizer/ir/target.h"

namespace respike {

class GpValidity {
 public:
  /// The program must outlive it and not change. Linear; 4 bytes per block are kept. Trusts code: a
  /// place behind a call is valid, too, if code there uses gp.
  GpValidity(const Program& program, const CallGraph& calls);
  /// By proof alone: behind a call only if the callee is known, and control gets there in no other
  /// way than by its return. For the procedures of the list; never valid in others.
  GpValidity(const Program& program, const CallGraph& calls,
             std::span<const ProcedureId> procedures);

  /// Whether the register holds Procedure::gp before instruction `index` of a block; with the
  /// number of instructions for `index`, behind the last one and before a callee starts. Never in
  /// procedures whose gp is not known, nor in opaque ones.
  bool before(ProcedureId procedure, BlockId block, uint32_t index) const;
  /// before() for all points of a block at once.
  std::vector<bool> valid_points(ProcedureId procedure, BlockId block) const;
  bool at_start(ProcedureId procedure, BlockId block) const {
    return state_[first_[procedure] + block] == kValid;
  }

  /// What the register holds: a gp load takes two instructions, and the value between them is that
  /// of neither.
  using State = int32_t;
  static constexpr State kValid = -1, kInvalid = -2, kUnreached = -3;  // else: half of that load

 private:
  friend class GpSolver;

  void number_blocks();
  bool writes_gp(const Instruction& instruction) const;
  State follow(const Procedure& procedure, const Instruction& instruction, State state) const;
  State step(const Procedure& procedure, const Instruction& instruction, State state) const;

  const Program& program_;
  const Target& target_;
  std::vector<uint32_t> first_;  // per procedure, of state_
  std::vector<State> state_;     // at the start of each block
};

}  // namespace respike
