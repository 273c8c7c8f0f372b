#pragma once
// A set-associative cache or translation buffer that replaces the least recently used way.
//
// The cache knows numbers of lines, blocks or pages of any size, but not their contents. Models of
// processors use it.

#include <algorithm>
#include <array>
#include <cstdint>

namespace respike::simulator {

template <unsigned kSets, unsigned kWays>
class LruCache {
 public:
  LruCache() {
    for (auto& set : sets_) set.fill(~uint64_t{0});
  }

  /// Says whether the cache held `number`, and inserts `number` if not. ~0 is no number.
  bool access(uint64_t number) {
    std::array<uint64_t, kWays>& set = sets_[number % kSets];
    if (set[0] == number) return true;
    unsigned way = 1;
    while (way < kWays - 1 && set[way] != number) ++way;
    const bool hit = set[way] == number;
    std::copy_backward(set.begin(), set.begin() + way, set.begin() + way + 1);
    set[0] = number;
    return hit;
  }

 private:
  std::array<std::array<uint64_t, kWays>, kSets> sets_;  // most recently used first
};

}  // namespace respike::simulator
