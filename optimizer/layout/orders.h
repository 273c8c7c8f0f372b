#pragma once
// Layouts that need no profile: the input's own order and the stress tests of the rewriter.

#include <cstdint>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// The blocks of a range of the input in its order; a block that the lifter added follows the block
/// from which control falls into it.
std::vector<BlockId> blocks_of(const Procedure& procedure, const CodeRange& range);

/// The order of the input, without padding that is never executed.
Layout original_layout(const Program& program);

/// Blocks of every movable procedure in random order, procedures cut into up to three fragments,
/// all fragments in random order. Text of more than 2.5 MB is mixed in windows of that size, whose
/// order is also random.
Layout random_layout(const Program& program, uint64_t seed);

/// The same, where every block (with the blocks glued to it) is a fragment of its own.
Layout scattered_layout(const Program& program, uint64_t seed);

}  // namespace respike
