#pragma once
// Chaining: the order of blocks in which the frequent paths of a procedure are straight.

#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// The blocks of `procedure` for which `wanted` holds, as chains: each block but the first of a
/// chain is entered most cheaply from the one before it. Greedy, after Pettis and Hansen ("Profile
/// guided code positioning", PLDI 1990, bottom-up positioning): edges are taken by what it saves to
/// make them fall-throughs, the heaviest first. Blocks that are glued stay together: one of them is
/// wanted if any is. Chains come in the order in which they should follow each other: the one with
/// the entry first, then always the one that the others lead to most often. O(edges log edges).
std::vector<std::vector<BlockId>> chain_blocks(const Procedure& procedure,
                                               const std::vector<bool>& wanted);

}  // namespace respike
