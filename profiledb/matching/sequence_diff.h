#pragma once
// What two sequences have in common, in order.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace respike {

/// Pairs of indices of equal tokens, ascending in both: those that a shortest edit script keeps
/// (Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1986). Of sequences
/// that differ in more than some hundred places the script is not always the shortest, so that time
/// stays close to linear.
std::vector<std::pair<uint32_t, uint32_t>> common_subsequence(std::span<const uint64_t> a,
                                                              std::span<const uint64_t> b);

}  // namespace respike
