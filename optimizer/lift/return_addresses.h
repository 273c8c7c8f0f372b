#pragma once
// Callees that use their return address for more than to return.

#include <cstdint>
#include <unordered_map>

#include "optimizer/lift/jumps.h"
#include "optimizer/lift/lifter.h"

namespace respike {

/// For machines whose calls push the return address; on others no callee uses the return address.
class ReturnAddresses {
 public:
  ReturnAddresses(const Lifter& lifter, Effort& effort) : lifter_(lifter), effort_(effort) {}

  /// Whether a callee, which a direct call enters at `callee`, may go on elsewhere than behind the
  /// call, or read data there.
  bool are_used_by(const CodeLocation& callee);

 private:
  const Lifter& lifter_;
  Effort& effort_;
  std::unordered_map<uint64_t, bool> known_;  // by procedure and block
};

}  // namespace respike
