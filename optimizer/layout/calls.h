#pragma once
// The calls that layouts follow.

#include <span>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A call or a jump into another procedure, at the end of a block.
struct CodeCall {
  ProcedureId caller = kNone;
  BlockId block = kNone;
  ProcedureId callee = kNone;  // kNone: unknown
  BlockId entry = kNone;       // of the callee
  bool returns = false;        // control comes back to the block's fall-through successor
  uint64_t count = 0;          // how often it is made; a block that jumps out may also go on inside

  bool known() const { return callee != kNone; }
};

/// The calls of the call graph, by caller and block. Where a profile saw one callee of an indirect
/// call, this callee gets as many of the calls as it has entries that direct calls do not explain.
/// The rest is a second call of the block, of an unknown callee. Example: an indirect call runs 100
/// times, its callee f is entered 80 times, 50 times by direct calls: f gets 30 of the 100 calls.
std::vector<CodeCall> find_calls(const Program& program);

/// By procedure: how often its first block runs, minus the procedure's own jumps and known calls. 0
/// where jumps and calls are more than the runs.
std::vector<double> unexplained_entries(const Program& program, std::span<const CodeCall> calls);

}  // namespace respike
