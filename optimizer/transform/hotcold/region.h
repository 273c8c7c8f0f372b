#pragma once
// The hot blocks of a procedure, and the clones that separate them from the cold blocks.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/ir/program.h"

namespace respike {

struct Region {
  ProcedureId procedure = kNone;
  std::vector<BlockId> hot;         // ascending; entries reach them only through hot blocks
  std::vector<bool> is_hot;         // per block
  std::vector<bool> is_cloned;      // per block: hot, but also reached by cold code
  std::vector<uint64_t> cold_runs;  // per block: the part of its count that its clone will run
};

/// Why there is no region: a clause for reports. `split` is false when nothing is cold.
struct NoRegion {
  bool split = true;
  std::string reason;
};

/// Blocks that code may reach by an address, apart from branches, calls, and jump tables that
/// belong to one jump.
class AddressTaken {
 public:
  explicit AddressTaken(const Program& program);
  bool contains(ProcedureId procedure, BlockId block) const;

 private:
  std::vector<std::pair<ProcedureId, BlockId>> places_;  // sorted
};

/// The landing pad that a block is, or to which it leads through padding; otherwise kNone. No code
/// may come before a pad: the next lift would take it for another path to the pad's gp load.
BlockId pad_behind(const Machine& machine, const Procedure& procedure, BlockId block);

/// count * part / whole, at most count.
uint64_t share_of(uint64_t count, uint64_t part, uint64_t whole);

/// Per block: whether it runs at least `share` (0 to 1) times as often as the procedure is entered.
std::vector<bool> frequent_blocks(const Program& program, ProcedureId id, const CallGraph& calls,
                                  double share);

/// The hot part: the wanted blocks (`wanted` is per block) and the blocks that must be in the same
/// part, as far as the entries reach them. Cold code never leads back to the hot part.
std::variant<Region, NoRegion> find_region(const Program& program, ProcedureId id,
                                           const CallGraph& calls, const AddressTaken& taken,
                                           std::vector<bool> wanted);

}  // namespace respike
