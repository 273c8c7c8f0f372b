#pragma once
// What registers hold after a call. Private to this folder.

#include "optimizer/lift/jumps.h"

namespace respike {

/// The registers that keep their values over the call that ends a block.
class Survivors {
 public:
  /// `block` belongs to `procedure`, whose references exist.
  Survivors(const Lifter& lifter, const Procedure& procedure, const BasicBlock& block,
            Effort& effort);
  bool contains(Register r) const;

 private:
  const Abi& abi_;
  const SupportCall* convention_ = nullptr;  // null: the standard
};

}  // namespace respike
