#pragma once
// Conflict-aware placement: an order of rows of code in which lines that take turns do not share
// sets of a direct-mapped cache.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/layout/turns.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// An order of rows of code of `lines` lines each, at most as many as the cache has sets, placed
/// one after the other from set 0 on. Lines are numbered through all rows. The next row is the row
/// that gains most from starting in the next set: its lines would meet fewer turns there than on
/// the average of all sets. Where no row gains, it is the first remaining row. Then rows change
/// places as long as fewer turns meet. After the colouring of Gloy and Smith (TOPLAS 1999), but
/// without gaps. Time: a few times the square of the number of lines; 4 bytes for each line and
/// set.
///
/// The first row has to begin in set 0. Code before all rows moves all of them by the same
/// distance, and nothing changes between them.
std::vector<uint32_t> order_by_conflicts(std::span<const uint32_t> lines, const Turns& turns,
                                         const CacheShape& cache);

}  // namespace respike
