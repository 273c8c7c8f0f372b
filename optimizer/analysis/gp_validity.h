#pragma once
// Where the register for the global pointer certainly holds the procedure's own gp, so that code
// inserted there can form addresses from it.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/gp_holders.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

class GpValidity {
 public:
  /// The program must outlive this object and not change. Linear; keeps 16 bytes per block and 16
  /// for each instruction that changes which registers hold gp. Trusts code: the register is also
  /// valid after a call if code there uses gp.
  GpValidity(const Program& program, const CallGraph& calls);
  /// Does not trust code: after a call the register is valid only if the callee is known, and
  /// control gets there only by the callee's return. Solves for the listed procedures; in others
  /// the register is never valid.
  GpValidity(const Program& program, const CallGraph& calls,
             std::span<const ProcedureId> procedures);

  /// Whether the register certainly holds Procedure::gp before instruction `index` of a block; if
  /// `index` is the number of instructions, after the last instruction, before a callee starts.
  /// Always false in procedures that are opaque or whose gp is unknown.
  bool before(ProcedureId procedure, BlockId block, uint32_t index) const;
  /// before() for all points of a block at once.
  std::vector<bool> valid_points(ProcedureId procedure, BlockId block) const;
  bool at_start(ProcedureId procedure, BlockId block) const {
    return state_[numbers_(procedure, block)].valid();
  }

 private:
  friend class GpSolver;

  void forget();  // makes all blocks unknown
  std::span<const GpEvent> events_of(uint32_t node) const {
    return std::span(events_).subspan(first_event_[node],
                                      first_event_[node + 1] - first_event_[node]);
  }

  const Program& program_;
  BlockNumbers numbers_;               // the indices in state_
  std::vector<GpState> state_;         // at the start of each block
  std::vector<GpEvent> events_;        // by block
  std::vector<uint32_t> first_event_;  // per block: index of its first event; and the end
};

}  // namespace respike
