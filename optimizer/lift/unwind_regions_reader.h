#pragma once
// Reads a table of unwind regions into states and call sites (see ir/unwind.h and
// base/region_encoding.h).

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/lift/unwind_reader.h"

namespace respike {

/// An entry of the table: addresses.
struct RegionEntry {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t information = 0;  // of the information block

  bool operator==(const RegionEntry&) const = default;
};

/// Whether the image describes its frames by unwind regions.
bool has_unwind_regions(const Image& image);

/// What the table's offsets are relative to: the lowest loaded segment.
uint64_t unwind_segment_base(const Image& image);

/// gp, which personality routines and types are found by: that of the dynamic section, or of any
/// procedure descriptor; nullopt when there is neither.
std::optional<uint64_t> unwind_data_base(const Image& image);

/// The table as it is, in its order, without empty entries. Throws Error when it lies outside of
/// the image.
std::vector<RegionEntry> read_region_entries(const Image& image);

/// As read_unwind(). Every CIE stands for a personality routine, its `personality` being the
/// address of the word that holds the routine's address; one without any is for other code. The
/// augmentation has an 'e' and a 'u' for handlers that are asked in the search for a handler and
/// called while unwinding.
UnwindInput read_unwind_regions(const Image& image,
                                std::vector<std::pair<uint64_t, uint64_t>>* unreadable = nullptr);

}  // namespace respike
