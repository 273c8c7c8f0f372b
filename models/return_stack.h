#pragma once
// A predictor of returns that several models of processors use.

#include <array>
#include <cstdint>

namespace respike::measure {

/// If the stack is full, a call overwrites the oldest entry. An empty stack predicts wrongly.
template <unsigned kSize>
class ReturnStack {
 public:
  static constexpr unsigned kEntries = kSize;

  void push(uint64_t address) {
    top_ = (top_ + 1) % kEntries;
    entries_[top_] = address;
    depth_ += depth_ < kEntries;
  }

  /// Removes the top of the stack; returns whether the top was `target`.
  bool pop(uint64_t target) {
    if (depth_ == 0) return false;
    const bool right = entries_[top_] == target;
    top_ = (top_ + kEntries - 1) % kEntries;
    --depth_;
    return right;
  }

 private:
  std::array<uint64_t, kEntries> entries_{};
  unsigned top_ = 0;
  unsigned depth_ = 0;
};

}  // namespace respike::measure
