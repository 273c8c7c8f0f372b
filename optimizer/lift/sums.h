#pragma once
// Addresses of code that are computed with. Private to this folder; see sums.cc.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/lift/jumps.h"

namespace respike {

/// Makes procedures opaque that jump to sums, or hold labels that none of their jumps may go to,
/// and keeps in place what sums with addresses of code may lead to. `ranges_of`: the ranges of each
/// procedure, as indices of Program::ranges. All edges exist; code pointers name addresses.
void check_sums(Lifter& lifter, std::span<const std::vector<uint32_t>> ranges_of, Effort& effort);

}  // namespace respike
