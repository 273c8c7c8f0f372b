#pragma once
// Prologs for fragments of procedures, where unwinders read the code of prologs.

#include "optimizer/ir/program.h"

namespace respike {

/// Puts a copy of the prolog before each fragment whose code runs after a prolog, if the image's
/// unwinders read prologs; otherwise does nothing. Nothing leads to a copy. Throws Error when a
/// prolog cannot be copied, which lift/prologs.cc rules out.
void copy_prologs(Program& program, Layout& layout);

}  // namespace respike
