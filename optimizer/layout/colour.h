#pragma once
// Conflict-aware placement: an order of rows of code in which what takes turns does not share lines
// of a direct-mapped cache.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/target.h"
#include "optimizer/layout/cluster.h"

namespace respike {

/// An order of rows of code of `lines` lines each, placed one behind the other from set 0 on. Lines
/// are numbered through all rows. Wherever the next row has to start, the one is taken that gains
/// most from starting there: whose lines would meet fewer turns of others than on the average of
/// all sets. Where nothing is gained the first row left is taken. After the colouring of Gloy and
/// Smith (TOPLAS 1999), but without gaps. O(rows^2 * their lines + turns).
std::vector<uint32_t> order_by_conflicts(std::span<const uint32_t> lines,
                                         std::span<const Affinity> turns, const CacheShape& cache);

}  // namespace respike
