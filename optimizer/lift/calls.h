#pragma once
// What registers hold behind a call. Private to this folder.

#include "optimizer/lift/jumps.h"

namespace respike {

/// The registers that hold behind the call which ends a block what they held in front of it.
class Survivors {
 public:
  /// The references of `procedure`, which the block is of, exist.
  Survivors(const Lifter& lifter, const Procedure& procedure, const BasicBlock& block,
            Effort& effort);
  bool contains(Register r) const;

 private:
  const Abi& abi_;
  const SupportCall* convention_ = nullptr;  // if not the standard's
};

}  // namespace respike
