#pragma once
// The calls that a layout looks at.

#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A call or a jump into another procedure, at the end of a block.
struct CodeCall {
  ProcedureId caller = kNone;
  BlockId block = kNone;
  ProcedureId callee = kNone;
  BlockId entry = kNone;  // of the callee
  bool returns = false;   // control comes back to the block's fall-through successor
};

/// Those of the call graph whose callees are known and, where a profile saw them, indirect ones; by
/// caller, block.
std::vector<CodeCall> find_calls(const Program& program);

}  // namespace respike
