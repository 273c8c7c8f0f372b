#pragma once
// How much work damaged debug information may cause; private to this folder.

#include <atomic>
#include <cstdint>

#include "optimizer/base/error.h"

namespace respike::debug {

/// Work in proportion to the size of the debug information. Entries that share lists or contain
/// each other, and tables that overlap, could multiply it. A unit is an entry of a list, or a byte
/// of its expression. May be used by several threads.
class Budget {
 public:
  explicit Budget(uint64_t size) : left_(static_cast<int64_t>(size)) {}
  /// Throws Error when nothing is left.
  void spend(uint64_t amount) {
    constexpr uint64_t kMost = uint64_t{1} << 40;
    if (left_.fetch_sub(static_cast<int64_t>(amount < kMost ? amount : kMost),
                        std::memory_order_relaxed) < static_cast<int64_t>(amount))
      throw Error("its parts overlap too much");
  }

 private:
  std::atomic<int64_t> left_;
};

}  // namespace respike::debug
