#pragma once
// No-ops out of the way.

#include <cstdint>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

class Machine;

/// Blocks whose instructions stay as they are, whatever may be dropped elsewhere.
std::vector<bool> untouchable_blocks(const Machine& machine, const Procedure& procedure);

/// Removes no-ops from all movable procedures: the layout aligns anew, and where the linker
/// resolved a call it left no-ops for what was not needed any more. Blocks keep at least one
/// instruction; sequences that are not to be touched keep all. Returns how many went. Linear.
uint64_t drop_nops(Program& program);

}  // namespace respike
