#pragma once
// SplitMix64 numbers that are the same on every machine.

#include <cstddef>
#include <cstdint>
#include <utility>

namespace respike {

/// Steele, Lea and Flood, OOPSLA 2014, "Fast splittable pseudorandom number generators".
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 .. limit - 1. The bias of the remainder is below limit / 2^64.
  size_t below(size_t limit) { return static_cast<size_t>(next() % limit); }
  /// At least 0 and below 1.
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  template <typename Iterator>
  void shuffle(Iterator first, Iterator last) {
    for (auto left = last - first; left > 1; --left)
      std::swap(first[left - 1], first[below(static_cast<size_t>(left))]);
  }

 private:
  uint64_t state_;
};

}  // namespace respike
