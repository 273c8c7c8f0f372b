#pragma once
// Writes the table of unwind regions and its information blocks for code in its new places.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/unwind/ia64/region_table.h"
#include "optimizer/unwind/unwind.h"

namespace respike {

struct RegionSections {
  std::vector<uint8_t> information;  // blocks with their LSDAs
  std::vector<uint8_t> table;
  uint64_t table_address = 0;
  std::vector<UnwindFixup> information_fixups;  // personality routines, types, LPStart
  std::vector<UnwindFixup> table_fixups;
};

/// Memory that the table may use.
struct TableRoom {
  uint64_t address = 0;  // 8-aligned
  uint64_t size = 0;     // bytes
};

/// Lays out the information blocks at `address` (16-aligned), then the table, which goes to `room`
/// instead where it fits there. `ranges` as in UnwindRequest; they start and end at slots.
/// Adjoining ranges of one owner start and end, as a whole, at bundles; a range in an opaque state
/// is a whole entry of the input. Throws Error when a state cannot be expressed, an offset does not
/// fit, or entries overlap.
RegionSections write_regions(const UnwindTables& tables, std::span<const UnwindRange> ranges,
                             const RegionBases& bases, uint64_t address,
                             const TableRoom& room = {});

}  // namespace respike
