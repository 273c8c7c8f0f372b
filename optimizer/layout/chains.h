#pragma once
// Chaining: the order of blocks in which the frequent paths of a procedure are straight.

#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// The blocks of `procedure` for which `wanted` holds, as chains: each block except the first of a
/// chain is entered most cheaply from the block before it. Greedy, after Pettis and Hansen
/// ("Profile guided code positioning", PLDI 1990, bottom-up positioning): edges are taken by what a
/// fall-through along them saves, the largest saving first. Glued blocks stay together: all of them
/// are wanted if any of them is wanted. Chains come in the order in which they should follow each
/// other: first the chain with the entry, then always the chain to which the previous chains lead
/// most often. O(edges log edges).
std::vector<std::vector<BlockId>> chain_blocks(const Procedure& procedure,
                                               const std::vector<bool>& wanted);

}  // namespace respike
