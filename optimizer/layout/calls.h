#pragma once
// The calls that a layout looks at.

#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A call or a jump into another procedure, at the end of a block.
struct CodeCall {
  ProcedureId caller = kNone;
  BlockId block = kNone;
  CodeLocation callee;   // a block of a procedure
  bool returns = false;  // control comes back to the block's fall-through successor
};

/// The direct ones and, where a profile saw them, indirect ones; by caller, block.
std::vector<CodeCall> find_calls(const Program& program);

}  // namespace respike
