#pragma once
// Reads a table of unwind regions into states and call sites (see ir/unwind.h and
// base/region_encoding.h).

#include <cstdint>
#include <utility>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/lift/unwind_reader.h"

namespace respike {

/// As read_unwind(). Every CIE stands for a personality routine, its `personality` being the
/// address of the word that holds the routine's address; one without any is for other code. The
/// augmentation has an 'e' and a 'u' for handlers that are asked in the search for a handler and
/// called while unwinding.
UnwindInput read_unwind_regions(const Image& image,
                                std::vector<std::pair<uint64_t, uint64_t>>* unreadable = nullptr);

}  // namespace respike
