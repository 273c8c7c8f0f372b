#pragma once
// Which registers hold values that may still be read, within one procedure. What happens where
// control leaves it, and in calls, is given: by the calling standard, or by register_flow.h.

#include <vector>

#include "optimizer/analysis/block_graph.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// What lies between the last instruction of a block and its successors: live behind the last
/// instruction is `used` and whatever is live at a successor and in `through`.
struct BlockEnd {
  RegisterSet used;
  RegisterSet through;
};

/// Ends by the calling standard alone: a call uses arguments and lets preserved registers through,
/// a return uses `at_exit`; a jump out of the procedure uses everything.
std::vector<BlockEnd> standard_ends(const Procedure& procedure, const Machine& machine,
                                    const RegisterSet& at_exit);

struct Liveness {
  std::vector<RegisterSet> in;   // per block, at its start
  std::vector<RegisterSet> out;  // behind its last instruction
};

/// Source: Aho, Sethi, Ullman: Compilers, section 10.6.
Liveness find_liveness(const Procedure& procedure, const Machine& machine,
                       const std::vector<BlockEnd>& ends);

}  // namespace respike
