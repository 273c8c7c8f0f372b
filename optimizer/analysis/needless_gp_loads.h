#pragma once
// Loads of the global pointer that change nothing.

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/ir/program.h"

namespace respike {

/// The two instructions of a gp load, both in one block.
struct GpLoad {
  ProcedureId procedure = kNone;
  BlockId block = kNone;
  uint32_t upper = 0, lower = 0;  // indices of instructions
  int32_t reference = 0;          // of the procedure, shared by both

  bool operator==(const GpLoad&) const = default;
};

/// Loads after calls for which it is proven that the register holds the same value already: the
/// callee and all procedures that it calls are known, and leave gp as it is or load the same gp
/// again. All these loads may be removed together. By procedure, block and index. Linear.
///
/// `calls`: the call graph of the program; made if it is needed and absent.
std::vector<GpLoad> find_needless_gp_loads(const Program& program, std::optional<CallGraph>& calls);
inline std::vector<GpLoad> find_needless_gp_loads(const Program& program) {
  std::optional<CallGraph> calls;
  return find_needless_gp_loads(program, calls);
}

}  // namespace respike
