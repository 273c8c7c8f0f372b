#pragma once
// Turns rows of states back into descriptors of unwind regions.

#include <cstdint>
#include <span>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/unwind.h"

namespace respike {

/// Consecutive slots with one state.
struct RegionSpan {
  uint32_t state = 0;  // index of UnwindTables::states
  uint64_t slots = 0;  // at least one
};

/// Appends the regions of code that consists of `spans`; neighbouring spans differ in state. Throws
/// Error when a state cannot be expressed.
void write_descriptors(const UnwindTables& tables, std::span<const RegionSpan> spans,
                       ByteWriter& out);

}  // namespace respike
