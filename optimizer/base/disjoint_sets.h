#pragma once
// Disjoint sets of the integers 0 .. size - 1 (Tarjan), with path halving.

#include <cstdint>
#include <numeric>
#include <vector>

namespace respike {

class DisjointSets {
 public:
  explicit DisjointSets(size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  /// The element that stands for the set of `x`.
  uint32_t find(uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  /// Adds the set of `x` to the set of `to`, whose element then stands for both. False: both were
  /// in one set already.
  bool unite(uint32_t x, uint32_t to) {
    x = find(x), to = find(to);
    parent_[x] = to;
    return x != to;
  }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace respike
