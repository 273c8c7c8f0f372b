#pragma once
// Placement: an order of pieces of code in which those that call each other are near.

#include <cstdint>
#include <span>
#include <vector>

namespace respike {

struct Affinity {
  uint32_t from = 0, to = 0;  // pieces
  double weight = 0;          // how often control goes from one to the other
};

/// An order of all pieces (by index of `sizes`, bytes). After Pettis and Hansen (PLDI 1990,
/// "procedure positioning"): the heaviest affinity left joins the two groups that its pieces are
/// in, so that the two come as near to each other as can be. Affinities between the same pieces add
/// up, whichever way they go. Groups come by weight per byte of what they hold (`heat`), the
/// densest first. O((pieces + affinities) log pieces).
std::vector<uint32_t> place_by_affinity(std::span<const uint64_t> sizes,
                                        std::span<const double> heat,
                                        std::vector<Affinity> affinities);

}  // namespace respike
