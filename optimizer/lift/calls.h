#pragma once
// What registers hold behind a call. Private to this folder.

#include "optimizer/lift/lifter.h"

namespace respike {

/// Whether `r` holds behind the call that ends `block` what it held in front of it. The references
/// of `procedure`, which the block is of, exist. Looks at few instructions.
bool survives_call(const Lifter& lifter, const Procedure& procedure, const BasicBlock& block,
                   Register r);

}  // namespace respike
