#pragma once
// Proof that two images run the same code: used after every rewriting and by `respike image
// verify`.

#include <cstdint>
#include <optional>
#include <string>

#include "optimizer/ir/program.h"

namespace respike {

/// How much a comparison looked at.
struct CompareCounts {
  uint64_t instructions = 0;    // pairs of instructions compared
  uint64_t blocks = 0;          // blocks of `before`
  uint64_t blocks_reached = 0;  // ... that the walk came to; the others are dead code
};

/// Walks both programs in lockstep from all their entries (bisimulation over pairs of code places)
/// and compares instructions, references, data, symbols and unwind information. Returns the first
/// difference in one sentence, or nullopt when `after` behaves as `before`.
std::optional<std::string> find_difference(const Program& before, const Program& after,
                                           CompareCounts* counts = nullptr);

}  // namespace respike
