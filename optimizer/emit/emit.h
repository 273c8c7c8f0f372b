#pragma once
// From the IR and a layout to the bytes of an image.

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"

namespace respike {

struct EmitStatistics {
  uint64_t text_bytes = 0;        // code in the original text range
  uint64_t added_text_bytes = 0;  // code in the added segment
  uint64_t fragments = 0;
  uint64_t far_stubs = 0;
};

/// Writes `program`, lifted from `program.image`, in the order of `layout`. `options` goes into the
/// provenance note. The bytes are a complete image; nothing is written to disk. Throws Error when
/// an address cannot be represented.
std::vector<uint8_t> emit(const Program& program, Layout layout, const std::string& options,
                          Diagnostics& diagnostics, EmitStatistics* statistics = nullptr);

}  // namespace respike
