#pragma once
// The table of unwind regions (region_encoding.h) as stored in an image.

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

/// An entry of the table: addresses.
struct RegionEntry {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t information = 0;  // of the information block

  bool operator==(const RegionEntry&) const = default;
};

/// The bases of numbers in the table and in the blocks.
struct RegionBases {
  uint64_t segment = 0;          // the lowest loaded segment
  std::optional<uint64_t> data;  // gp: that of the dynamic section, or of any procedure descriptor
};

/// Whether the image describes its frames by unwind regions.
bool has_unwind_regions(const Image& image);

RegionBases region_bases(const Image& image);

/// The unchanged table, in its order, without empty entries. Throws Error when the table is outside
/// of the image.
std::vector<RegionEntry> read_region_entries(const Image& image);

}  // namespace respike
