#pragma once
// LLVM's layout algorithms on Respike's types, as alternatives and as second opinions.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/layout/cluster.h"

namespace respike {

/// The wanted blocks of a procedure in the order that maximizes the ext-TSP score (Newell and
/// Pupyrev, "Improved basic block reordering", IEEE TC 2020). The weight of an edge is what a
/// fall-through along it saves, instead of its count. Glued blocks stay together.
std::vector<BlockId> ext_tsp_blocks(const Machine& machine, const Procedure& procedure,
                                    const std::vector<bool>& wanted);

/// LLVM's cache-directed sort of pieces of code; the arguments are those of place_by_affinity().
/// This sort also uses the place at which control leaves a piece.
std::vector<uint32_t> place_cache_directed(std::span<const uint64_t> sizes,
                                           std::span<const double> heat,
                                           std::span<const Affinity> affinities);

}  // namespace respike
