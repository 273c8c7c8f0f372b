#pragma once
// The table of base relocations, .reloc: the places to which a loader adds its distance from the
// preferred base.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace respike::pe {

/// Kinds of base relocations (PE/COFF specification of 1998, section 6.5.2).
enum BaseRelocationKind : uint8_t {
  kAbsolute = 0,  // padding
  kHigh = 1,      // the upper half of an address
  kLow = 2,
  kHighLow = 3,       // an address of 32 bits
  kHighAdjusted = 4,  // the upper half, rounded; the next word is the lower half
  kJumpAddress = 5,
  kAddress64 = 10,
};

struct BaseRelocation {
  uint32_t place = 0;  // relative to the base
  uint8_t kind = kAbsolute;
  uint16_t low = 0;  // kHighAdjusted: the lower half of the address

  bool operator==(const BaseRelocation&) const = default;
};

/// Reads a table. `offset`: of the table in the file, for messages. Padding is left out. Throws
/// Error when the table is damaged.
std::vector<BaseRelocation> read_base_relocations(std::span<const uint8_t> table,
                                                  const std::string& name, uint64_t offset);

/// The opposite; `relocations` are sorted by place.
std::vector<uint8_t> write_base_relocations(std::span<const BaseRelocation> relocations);

}  // namespace respike::pe
