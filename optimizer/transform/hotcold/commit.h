#pragma once
// Puts an optimized hot procedure into the program.

#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/transform/hotcold/hot_procedure.h"
#include "optimizer/transform/hotcold/region.h"

namespace respike {

/// The blocks that a procedure has after commit().
struct CommittedBlocks {
  uint64_t copied_instructions = 0;  // of the original hot blocks
  uint64_t hot_instructions = 0;     // of the hot procedure
  uint64_t hot_executed = 0;         // executed instructions of the hot procedure
  uint64_t hot_calls = 0;            // calls in the hot procedure
  uint64_t clone_instructions = 0;   // of the clones
  uint64_t stub_instructions = 0;
  uint64_t stubs_entered = 0;   // times control left for the cold part
  std::vector<BlockId> copies;  // per block: the original block; kNone: a stub
};

/// Replaces the hot blocks by the hot procedure, and appends the stubs and the clones of hot blocks
/// for the cold part. References to the procedure's entries now refer to hot entries. Counts are
/// divided between hot blocks and clones.
CommittedBlocks commit(Program& program, const Region& region, const HotProcedure& hot);

}  // namespace respike
