#pragma once
// A set-associative cache or translation buffer that replaces the least recently used way.
//
// The cache knows numbers of lines, blocks or pages of any size, but not their contents. Models of
// processors use it. Most accesses are to the most recently used way of a set, and take one
// comparison. A small table remembers the last way of each number, so that most other accesses take
// one more comparison; the rest compare all ways, without jumps, which would be hard to predict.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace respike::measure {

template <unsigned kSets, unsigned kWays>
class LruCache {
 public:
  LruCache() {
    for (Set& set : sets_) set.numbers.fill(~uint64_t{0});
  }

  /// Returns whether the cache held `number`, and inserts `number` if not. ~0 is not a number.
  bool access(uint64_t number) {
    Set& set = sets_[number % kSets];
    if (set.numbers[set.last] == number) return true;
    uint8_t& hint = hints_[number % kHints];
    if (set.numbers[hint] == number) {
      use(set, hint);
      return true;
    }
    unsigned way = find(set, number);
    const bool hit = way < kWays;
    if (!hit) {
      way = oldest(set);
      set.marks[way] = 0;
      set.numbers[way] = number;
    }
    hint = uint8_t(way);
    use(set, way);
    return hit;
  }

  /// A mark for the owner's use, of the number of the last access(); 0 when the number was
  /// inserted.
  uint8_t& mark(uint64_t number) {
    Set& set = sets_[number % kSets];
    return set.marks[set.last];
  }

  /// Whether the cache holds `number`; changes nothing.
  bool holds(uint64_t number) const { return find(sets_[number % kSets], number) < kWays; }

 private:
  static constexpr unsigned kHints = std::bit_ceil(std::min(2 * kSets * kWays, 2048u));

  struct Set {
    std::array<uint64_t, kWays> numbers;
    std::array<uint64_t, kWays> used{};  // time of last use
    std::array<uint8_t, kWays> marks{};
    uint8_t last = 0;  // the most recently used way
  };

  static unsigned find(const Set& set, uint64_t number) {
    unsigned way = kWays;
    for (unsigned i = 0; i < kWays; ++i) way = set.numbers[i] == number ? i : way;
    return way;
  }

  static unsigned oldest(const Set& set) {
    unsigned way = 0;
    for (unsigned i = 1; i < kWays; ++i) way = set.used[i] < set.used[way] ? i : way;
    return way;
  }

  void use(Set& set, unsigned way) {
    set.used[way] = ++clock_;
    set.last = uint8_t(way);
  }

  std::array<Set, kSets> sets_;
  std::array<uint8_t, kHints> hints_{};  // ways, by number
  uint64_t clock_ = 0;
};

}  // namespace respike::measure
