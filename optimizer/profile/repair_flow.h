#pragma once
// Changes counts as little as possible to make them a conserved flow.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace respike {

/// An edge of a flow graph, its wanted count, and the prices of other counts.
struct WantedFlow {
  uint32_t from = 0;  // nodes
  uint32_t to = 0;
  uint64_t wanted = 0;  // at most kMostWantedFlow
  uint32_t up = 1;      // the cost of each unit above `wanted`
  uint32_t down = 1;    // the cost of each unit below `wanted`
};
inline constexpr uint64_t kMostWantedFlow = uint64_t{1} << 40;

/// The counts of all edges in a conserved flow (as much flows into each node as out of it) with the
/// lowest sum of costs. Such a flow always exists, since the zero flow is conserved. Takes time
/// close to linear where most counts fit, quadratic where no count does. `effort` limits the steps
/// and is counted down; nullopt when it does not suffice.
std::optional<std::vector<uint64_t>> repair_flow(uint32_t nodes, std::span<const WantedFlow> edges,
                                                 uint64_t& effort);

}  // namespace respike
