#pragma once
// Places in prologs and epilogs. If unwinders read the code of both, nothing may be added there.

#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// Whether unwinders of the program read the code of prologs.
bool reads_prologs(const Program& program);

/// `open`: by instruction of the block, whether code may be inserted before the instruction. Closes
/// the places inside of the prolog, and those after a change of the stack pointer in an epilog: the
/// return has to follow there (lift/prologs.cc).
void close_prologs(const Program& program, const Procedure& procedure, const BasicBlock& block,
                   std::vector<bool>& open);

}  // namespace respike
