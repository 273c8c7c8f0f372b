#pragma once
// Removes no-ops.

#include <cstdint>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

struct Machine;

/// By block: whether it has an untouchable sequence (SequenceRole), or is glued to the next block
/// or the previous block.
std::vector<bool> untouchable_blocks(const Machine& machine, const Procedure& procedure);

/// Removes no-ops from all movable procedures: the layout aligns anew, and linkers leave no-ops in
/// place of instructions that a relaxed call does not need. A block keeps at least one instruction,
/// an untouchable block keeps all. Returns how many no-ops were removed. Linear.
uint64_t drop_nops(Program& program);

}  // namespace respike
