#pragma once
// Prologs for pieces of procedures, where unwinders read the code of prologs.

#include "optimizer/ir/program.h"

namespace respike {

/// Puts a copy of the prolog in front of each fragment whose code runs behind a prolog, if the
/// image's unwinders read prologs; else does nothing. Nothing leads to a copy. Throws Error when a
/// prolog cannot be copied, which lift/prologs.cc rules out.
void copy_prologs(Program& program, Layout& layout);

}  // namespace respike
