#pragma once
// Which blocks of a procedure are hot, and what it takes to part them from the others.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/ir/program.h"

namespace respike {

struct Region {
  ProcedureId procedure = kNone;
  std::vector<BlockId> hot;         // ascending; what the entries reach without leaving it
  std::vector<bool> is_hot;         // per block
  std::vector<bool> is_cloned;      // per block: hot, and reached by cold code, too
  std::vector<uint64_t> cold_runs;  // per block: how often its clone will run, of the block's count
};

/// Why there is none: one clause for reports. `split` is false when nothing is cold.
struct NoRegion {
  bool split = true;
  std::string reason;
};

/// Blocks that other code may reach by an address, other than by branches, calls and jump tables
/// that belong to one jump.
class AddressTaken {
 public:
  explicit AddressTaken(const Program& program);
  bool contains(ProcedureId procedure, BlockId block) const;

 private:
  std::vector<std::pair<ProcedureId, BlockId>> places_;  // sorted
};

/// The landing pad that a block is, or that it leads to while doing nothing; else kNone. Code in
/// front of it would be taken for another way to compute gp by whoever reads the program again.
BlockId pad_behind(const Machine& machine, const Procedure& procedure, BlockId block);

/// count * part / whole, at most count.
uint64_t share_of(uint64_t count, uint64_t part, uint64_t whole);

/// Per block: whether it runs at least `share` (0 to 1) times as often as the procedure is entered.
std::vector<bool> frequent_blocks(const Program& program, ProcedureId id, const CallGraph& calls,
                                  double share);

/// The hot part: the blocks that are wanted (per block of the procedure) and those that have to
/// stay together with them, as far as the entries reach them. Cold code never leads back to it.
std::variant<Region, NoRegion> find_region(const Program& program, ProcedureId id,
                                           const CallGraph& calls, const AddressTaken& taken,
                                           std::vector<bool> wanted);

}  // namespace respike
