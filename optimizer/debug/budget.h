#pragma once
// How much work damaged debug information may cause; private to this folder.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "optimizer/base/error.h"

namespace respike::debug {

/// Limits work to a multiple of the size of the debug information. Entries that share lists or
/// contain each other, and tables that overlap, could multiply the work. The budget counts entries
/// of lists and bytes of their expressions. Several threads may use it.
class Budget {
 public:
  explicit Budget(uint64_t size) : left_(static_cast<int64_t>(size)) {}
  /// Throws Error when nothing is left.
  void spend(uint64_t amount) {
    constexpr uint64_t kMost = uint64_t{1} << 40;
    const auto cost = static_cast<int64_t>(std::min(amount, kMost));
    if (left_.fetch_sub(cost, std::memory_order_relaxed) < cost)
      throw Error("its parts overlap too much");
  }

 private:
  std::atomic<int64_t> left_;
};

}  // namespace respike::debug
