#pragma once
// The counts of an older build of a procedure on the blocks and edges of the present one.

#include <cstdint>
#include <span>

#include "optimizer/profile/profile.h"

namespace respike {

/// How much of a procedure's counts found a place. `weight`: executed instructions of the older
/// build; `sure`: those in blocks that were found again, each as sure as that is.
struct CarriedCounts {
  double weight = 0;
  double sure = 0;
  double confidence() const { return weight == 0 ? 1 : sure / weight; }
};

/// Sets all counts of `now` but those of indirect targets. Where the procedures differ, what flows
/// into a block flows out of it afterwards, or enters and leaves the procedure there. `calls` say
/// by node what is called, see pair_nodes(). `effort` as in repair_flow(): without any left, counts
/// that were not found again stay estimates that need not add up.
CarriedCounts carry_counts(const ProcedureProfile& before, std::span<const uint32_t> calls_before,
                           ProcedureProfile& now, std::span<const uint32_t> calls_now,
                           uint64_t& effort);

/// Sets the counts of a procedure that nothing is known of but how often it is called.
void estimate_counts(ProcedureProfile& procedure, uint64_t calls, uint64_t& effort);

}  // namespace respike
