#pragma once
// Computations with addresses of code. Private to this folder; see sums.cc.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/lift/jumps.h"

namespace respike {

/// Makes procedures opaque that jump to sums, or that hold labels to which none of their jumps may
/// go. Keeps in place the code to which sums with addresses of code may lead. `ranges_of`: the
/// ranges of each procedure, as indices of Program::ranges. All edges must exist; code pointers
/// name addresses.
void check_sums(Lifter& lifter, std::span<const std::vector<uint32_t>> ranges_of, Effort& effort);

}  // namespace respike
