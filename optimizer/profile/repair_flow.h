#pragma once
// Counts that do not add up, changed as little as possible until they do.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace respike {

/// An edge of a flow graph and what is known of its count.
struct WantedFlow {
  uint32_t from = 0;  // nodes
  uint32_t to = 0;
  uint64_t wanted = 0;  // at most kMostWantedFlow
  uint32_t up = 1;      // the cost of each unit above `wanted`
  uint32_t down = 1;    // and below
};
inline constexpr uint64_t kMostWantedFlow = uint64_t{1} << 40;

/// The counts of all edges: as much flows into each node as out of it, and no conserved flow has a
/// lower sum of costs. There always is one: nothing flows. Close to linear where most counts fit,
/// quadratic where none does. `effort` is how many steps it may take, and counts them down; nullopt
/// when that is not enough.
std::optional<std::vector<uint64_t>> repair_flow(uint32_t nodes, std::span<const WantedFlow> edges,
                                                 uint64_t& effort);

}  // namespace respike
