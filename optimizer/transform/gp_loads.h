#pragma once
// Removes needless loads of the global pointer.

#include <cstdint>
#include <vector>

#include "optimizer/analysis/needless_gp_loads.h"
#include "optimizer/ir/program.h"

namespace respike {

/// What drop_gp_loads() removed.
struct DroppedGpLoads {
  struct Block {
    ProcedureId procedure;
    BlockId block;
    ArenaList<Instruction> instructions;  // of the block before
  };
  std::vector<GpLoad> loads;  // by procedure, block and place
  std::vector<Block> blocks;
};

/// Removes the loads of find_needless_gp_loads() from all movable procedures. Keeps loads in
/// untouchable blocks, in blocks whose address is taken, and in blocks that would be empty without
/// the loads, since signatures skip empty blocks. Linear. `calls` is as for
/// find_needless_gp_loads() and stays valid.
DroppedGpLoads drop_gp_loads(Program& program, std::optional<CallGraph>& calls);

/// Restores the instructions that the blocks had before drop_gp_loads().
void put_back(Program& program, const DroppedGpLoads& dropped);

}  // namespace respike
