#pragma once
// Reads .eh_frame and the LSDAs into states and call sites (see ir/unwind.h).

#include <cstdint>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/ir/unwind.h"

namespace respike {

struct UnwindInput {
  UnwindTables tables;
  std::vector<Fde> fdes;  // sorted by start
};

/// Reads the unwind tables of `image`. An FDE that cannot be read (unknown encoding or operation)
/// is left out and its range reported in `unreadable`; throws Error only when the section is
/// damaged beyond its own framing.
UnwindInput read_unwind(const Image& image,
                        std::vector<std::pair<uint64_t, uint64_t>>* unreadable = nullptr);

}  // namespace respike
