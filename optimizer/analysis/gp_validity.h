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
#include "optimizer/ir/target.h"

namespace respike {

class GpValidity {
 public:
  /// The program must outlive it and not change. Linear; 16 bytes per block and 16 for each
  /// instruction that changes what holds gp are kept. Trusts code: a place behind a call is valid,
  /// too, if code there uses gp.
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
    return state_[numbers_(procedure, block)].valid();
  }

 private:
  friend class GpSolver;

  void forget();  // nothing is known of any block
  std::span<const GpEvent> events_of(uint32_t node) const {
    return std::span(events_).subspan(first_event_[node],
                                      first_event_[node + 1] - first_event_[node]);
  }

  const Program& program_;
  BlockNumbers numbers_;               // of state_
  std::vector<GpState> state_;         // at the start of each block
  std::vector<GpEvent> events_;        // by block
  std::vector<uint32_t> first_event_;  // per block, and the end
};

}  // namespace respike
