#pragma once
// Which code is hot, by one threshold for the whole program.

#include <cstdint>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// The lowest count of a hot block: all blocks with lower counts together execute at most `share`
/// (0 to 1) of all instructions. At least 1, so that code that never ran is cold. Spike's rule
/// (Cohn et al., DTJ 1997, "Procedure splitting"), which uses 1%. The threshold is higher where the
/// hot blocks would take more than `most` bytes.
uint64_t hot_threshold(const Program& program, double share, uint64_t most = ~uint64_t{0});

/// Bytes of a block's own instructions.
uint64_t code_size(const Machine& machine, const BasicBlock& block);

}  // namespace respike
