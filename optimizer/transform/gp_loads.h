#pragma once
// Needless loads of the global pointer out of the way.

#include <cstdint>
#include <vector>

#include "optimizer/analysis/needless_gp_loads.h"
#include "optimizer/ir/program.h"

namespace respike {

/// What drop_gp_loads() took out.
struct DroppedGpLoads {
  struct Block {
    ProcedureId procedure;
    BlockId block;
    ArenaList<Instruction> instructions;  // that it had
  };
  std::vector<GpLoad> loads;  // by procedure, block and place
  std::vector<Block> blocks;
};

/// Removes the loads of find_needless_gp_loads() from all movable procedures. Left alone are those
/// in sequences that are not to be touched, those without which a block would do nothing, since
/// profiles know procedures by the blocks that do something, and those in blocks whose address is
/// taken. Linear. `calls` is as for find_needless_gp_loads(); what is removed changes no call.
DroppedGpLoads drop_gp_loads(Program& program, std::optional<CallGraph>& calls);

/// Puts them back, and whatever else was removed from these blocks since.
void put_back(Program& program, const DroppedGpLoads& dropped);

}  // namespace respike
