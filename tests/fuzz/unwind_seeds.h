#pragma once
// Makes inputs of check_unwind from images.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/unwind/ia64/region_encoding.h"
#include "optimizer/unwind/ia64/region_table.h"

namespace respike {

/// An input for each entry of the image's unwind table. The format does not say how long a block
/// with handlers is, so the block is taken to end where the next block starts.
inline std::vector<std::vector<uint8_t>> unwind_seeds(const Image& image) {
  const std::vector<RegionEntry> entries = read_region_entries(image);
  std::vector<std::vector<uint8_t>> seeds;
  for (const RegionEntry& entry : entries) {
    const Section* section = image.section_at(entry.information);
    if (section == nullptr) continue;
    uint64_t end = section->address + section->contents.size();
    for (const RegionEntry& other : entries)
      if (other.information > entry.information) end = std::min(end, other.information);
    ByteWriter out;
    out.write<uint16_t>((entry.end - entry.start) / regions::kBundleSize - 1);
    out.append(
        section->contents.subspan(entry.information - section->address, end - entry.information));
    seeds.push_back(std::move(out.bytes()));
  }
  return seeds;
}

}  // namespace respike
