#pragma once
// Placement: an order of pieces of code in which pieces that call each other are near.

#include <cstdint>
#include <span>
#include <vector>

namespace respike {

struct Affinity {
  uint32_t from = 0, to = 0;  // pieces
  double weight = 0;          // how often control goes from one piece to the other
  uint64_t offset = 0;        // a place in `from`, bytes; of several such affinities, any
};

/// Rows of pieces (by index of `sizes`, bytes) in which pieces with affinity are near each other;
/// every piece is in one row. After Pettis and Hansen (PLDI 1990, "procedure positioning"): the
/// heaviest remaining affinity joins the rows of its two pieces, so that the pieces come as near to
/// each other as possible, unless the row would become longer than `longest` bytes. Affinities of
/// the same two pieces add up in both directions. Affinities of the same two rows do not, unlike in
/// Pettis and Hansen's rule: rows that grew by chance would draw in every piece with small
/// affinities to several of their pieces, and programs get slower
/// (bench/journal/hot-code-order.md). O((pieces + affinities) log pieces).
std::vector<std::vector<uint32_t>> rows_by_affinity(std::span<const uint64_t> sizes,
                                                    std::vector<Affinity> affinities,
                                                    uint64_t longest);

/// The rows with the most heat per byte first; `heat` by piece.
std::vector<std::vector<uint32_t>> by_heat(std::vector<std::vector<uint32_t>> rows,
                                           std::span<const uint64_t> sizes,
                                           std::span<const double> heat);

/// An order of all pieces: rows of any length, the rows with the most heat per byte first.
std::vector<uint32_t> place_by_affinity(std::span<const uint64_t> sizes,
                                        std::span<const double> heat,
                                        std::vector<Affinity> affinities);

}  // namespace respike
