#pragma once
// Carries the counts of a procedure from an older build over to its blocks and edges in another.

#include <cstdint>
#include <span>

#include "optimizer/profile/profile.h"

namespace respike {

/// How much of a procedure's counts found a place. `weight`: executed instructions of the older
/// build. `sure`: executed instructions in nodes that have a partner, times the confidence in the
/// pair.
struct CarriedCounts {
  double weight = 0;
  double sure = 0;
  double confidence() const { return weight == 0 ? 1 : sure / weight; }
};

/// Sets all counts of `now` but those of indirect targets. If the procedures differ, the new counts
/// are a flow: the count that enters a block by edges or from outside leaves it by edges or to
/// outside. `calls_*` give the callee by node, as in pair_nodes(). `effort` is the effort of
/// repair_flow(): when it is used up, counts are estimates that need not add up.
CarriedCounts carry_counts(const ProcedureProfile& before, std::span<const uint32_t> calls_before,
                           ProcedureProfile& now, std::span<const uint32_t> calls_now,
                           uint64_t& effort);

/// Estimates the counts of a procedure from its number of calls alone.
void estimate_counts(ProcedureProfile& procedure, uint64_t calls, uint64_t& effort);

}  // namespace respike
