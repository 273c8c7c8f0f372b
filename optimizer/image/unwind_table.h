#pragma once
// The table of unwind regions (base/region_encoding.h) as it lies in an image.

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

/// What numbers in the table and in the blocks are relative to.
struct RegionBases {
  uint64_t segment = 0;          // the lowest loaded segment
  std::optional<uint64_t> data;  // gp: that of the dynamic section, or of any procedure descriptor
};

/// Whether the image describes its frames by unwind regions.
bool has_unwind_regions(const Image& image);

RegionBases region_bases(const Image& image);

/// The table as it is, in its order, without empty entries. Throws Error when it lies outside of
/// the image.
std::vector<RegionEntry> read_region_entries(const Image& image);

/// The entries sorted, for looking up addresses as unwinders do.
class RegionMap {
 public:
  RegionMap() = default;
  /// No entries where the image describes its frames otherwise, or its table cannot be read.
  explicit RegionMap(const Image& image);

  /// The start of the entry that holds `address`, or nullopt. Binary search.
  std::optional<uint64_t> start_of_entry(uint64_t address) const;

 private:
  std::vector<RegionEntry> entries_;  // by start
};

/// Where a reference to `address` in the table that was `from` leads when the table is written anew
/// at `to` with `size` bytes. References are to the start (start-up code of static images means the
/// entries behind those of its own object, so any place inside counts as the start), to the end,
/// or to the terminating word before it.
inline uint64_t moved_table_address(uint64_t address, const Section& from, uint64_t to,
                                    uint64_t size) {
  constexpr uint64_t kTerminator = 4;
  const uint64_t behind = from.address + from.size - address;
  return behind <= kTerminator ? to + size - behind : to;
}

}  // namespace respike
