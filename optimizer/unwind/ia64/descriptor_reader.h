#pragma once
// Executes the descriptors of unwind regions into rows of states.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/unwind.h"

namespace respike {

struct RegionRow {
  uint64_t slot = 0;  // from here on, counted from the start of the described code
  CfiState state;     // `cie` is not set
};

/// The rows for `slots` slots of code; neighbours differ, and the first row is at slot 0. Throws
/// Error for descriptors that are not understood.
std::vector<RegionRow> read_descriptors(std::span<const uint8_t> descriptors, uint64_t slots);

}  // namespace respike
