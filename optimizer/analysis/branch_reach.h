#pragma once
// Short branches that do not reach.

#include <cstdint>
#include <span>

#include "optimizer/analysis/packing.h"

namespace respike {

/// Which of the short branches at the end of a block do not lead to where they should. `addresses`:
/// of blocks, by `numbers`. `run`: memory that is used again, of one thread.
Packing::Branches out_of_reach(const Program& program, const Packing& packing,
                               const BlockNumbers& numbers, std::span<const uint64_t> addresses,
                               ProcedureId procedure, BlockId block, BlockRun& run);

}  // namespace respike
