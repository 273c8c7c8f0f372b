#pragma once
// Blocks that no layout may part.

#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// The blocks of a procedure as runs that must stay together (BasicBlock::kGluedToNext), in the
/// order of the input. Most runs have one block.
std::vector<std::vector<BlockId>> glued_runs(const Procedure& procedure);

}  // namespace respike
