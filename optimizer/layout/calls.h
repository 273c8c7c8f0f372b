#pragma once
// The calls that a layout looks at.

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
  uint64_t count = 0;          // how often it is made: the block may go on inside, too

  bool known() const { return callee != kNone; }
};

/// Those of the call graph, by caller, block. Of an indirect one a profile saw one callee: it gets
/// as many of the calls as its entries are, less those that direct calls explain. The rest is a
/// second call of the block, of an unknown callee.
std::vector<CodeCall> find_calls(const Program& program);

/// By procedure: how often its first block runs other than by its own jumps and known calls. 0
/// where these are more.
std::vector<double> unexplained_entries(const Program& program, std::span<const CodeCall> calls);

}  // namespace respike
