#pragma once
// Short branches that do not reach.

#include <cstdint>
#include <span>

#include "optimizer/analysis/packing.h"

namespace respike {

/// Which of the short branches at the end of a block do not reach their targets. `addresses`: of
/// blocks, by `numbers`. `run`: memory of one thread that is reused.
Packing::Branches out_of_reach(const Program& program, const Packing& packing,
                               const BlockNumbers& numbers, std::span<const uint64_t> addresses,
                               ProcedureId procedure, BlockId block, BlockRun& run);

}  // namespace respike
