#pragma once
// Reads .eh_frame and the LSDAs into states and call sites (see ir/unwind.h).

#include <cstdint>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/ir/unwind.h"

namespace respike {

/// One FDE of the input.
struct Fde {
  uint64_t start = 0;  // addresses
  uint64_t end = 0;
  uint32_t lsda = 0xffffffff;  // index of UnwindTables::lsdas, or kNone

  struct Row {
    uint64_t address = 0;  // from here on ...
    uint32_t state = 0;    // ... this index of UnwindTables::states
  };
  std::vector<Row> rows;  // sorted; the first is at `start`

  struct CallSite {
    uint64_t start = 0;  // addresses, half-open
    uint64_t end = 0;
    uint64_t landing_pad = 0;  // 0: none
    uint64_t action = 0;
  };
  std::vector<CallSite> call_sites;  // sorted by start
};

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
