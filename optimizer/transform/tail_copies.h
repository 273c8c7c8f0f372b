#pragma once
// Copies of short tails instead of jumps to them.

#include <cstdint>

#include "optimizer/ir/program.h"

namespace respike {

struct TailCopies {
  uint64_t tails = 0;
  uint64_t bytes = 0;
};

/// Copies short tails of hot paths, where the machine gains by that (ExecutionCosts::copied_tail):
/// layouts can put each copy after a block that would have to jump. `program` has counts; they are
/// divided among the copies.
TailCopies copy_tails(Program& program);

}  // namespace respike
