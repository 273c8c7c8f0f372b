#pragma once
// The common subsequence of two sequences.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace respike {

/// Pairs of indices of the tokens that a shortest edit script keeps, ascending in both (Myers, "An
/// O(ND) difference algorithm and its variations", Algorithmica 1986). For sequences that differ in
/// more than kMostDifferences (400) places the script is not always the shortest, so that time
/// stays close to linear.
std::vector<std::pair<uint32_t, uint32_t>> common_subsequence(std::span<const uint64_t> a,
                                                              std::span<const uint64_t> b);

}  // namespace respike
