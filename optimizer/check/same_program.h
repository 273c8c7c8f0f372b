#pragma once
// A proof that two images run the same code. It is used after every rewriting and by `respike image
// verify`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/analysis/needless_gp_loads.h"
#include "optimizer/ir/program.h"

namespace respike {

class AddedCode;

/// How much a comparison looked at.
struct CompareCounts {
  uint64_t instructions = 0;    // pairs of instructions compared
  uint64_t blocks = 0;          // blocks of `before`
  uint64_t blocks_reached = 0;  // of `before`, by the walk; all others are dead code
};

/// A block of `before`, and the place in `after` at which the walk entered it. Blocks that do
/// nothing, and blocks that nothing leads to, have no pair.
struct BlockPair {
  ProcedureId procedure = kNone;
  BlockId block = kNone;
  ProcedureId after_procedure = kNone;
  BlockId after_block = kNone;
  uint32_t after_index = 0;  // of the instruction in that block

  bool operator==(const BlockPair&) const = default;
};

/// Walks both programs in lockstep from all their entries (bisimulation over pairs of code places)
/// and compares instructions, references, data, symbols and unwind information. Returns the first
/// difference in one sentence, or nullopt when `after` behaves as `before`.
///
/// `needless`: the loads of gp in `before` that `after` may lack, ascending, proven needless by
/// find_needless_gp_loads(). Without the list the comparison calls that function itself, which
/// takes several times as long as the rest of its work on gp.
///
/// `pairs`: gets the pairs of blocks, by procedure and block of `before`.
///
/// `added`: knows the code that `after` may have in addition to the code of `before`.
std::optional<std::string> find_difference(const Program& before, const Program& after,
                                           CompareCounts* counts = nullptr,
                                           const std::vector<GpLoad>* needless = nullptr,
                                           std::vector<BlockPair>* pairs = nullptr,
                                           AddedCode* added = nullptr);

}  // namespace respike
