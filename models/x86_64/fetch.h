#pragma once
// Where an x86-64 processor fetches its instructions from: micro-op cache, first level with its
// prefetcher.
//
// Example: a jump into a line that nothing holds is a miss of the micro-op cache and of the first
// level; the next line is prefetched, so that code that continues there does not miss again.
//
// Sources: processors.h. Least recently used entries are replaced: assumed. Addresses are virtual;
// the first level is indexed by address bits within a page of 4 KB.

#include <array>
#include <cstdint>
#include <utility>

#include "models/lru_cache.h"

namespace respike::measure::x86 {

inline constexpr unsigned kLineShift = 6;    // lines of 64 bytes
inline constexpr unsigned kWindowShift = 6;  // windows of the micro-op cache
inline constexpr unsigned kPageShift = 12;

/// The first level without a prefetcher: 32 KB, 8 ways.
using PlainInstructionCache = LruCache<64, 8>;

/// The first level with a prefetcher. A prefetched line keeps a mark until it is needed.
class InstructionCache {
 public:
  /// Whether a line was present. `late`: it was prefetched, but from beyond the second level, which
  /// takes longer than the execution of the code before it.
  enum class Answer : uint8_t { hit, prefetched, late, miss };

  /// Looks up a line that is needed, and inserts it.
  Answer access(uint64_t line) {
    if (!cache_.access(line)) return Answer::miss;
    return static_cast<Answer>(std::exchange(cache_.mark(line), uint8_t{0}));
  }

  bool holds(uint64_t line) const { return cache_.holds(line); }

  /// Inserts a line that is absent and not needed yet.
  void prefetch(uint64_t line, bool late) {
    cache_.access(line);
    cache_.mark(line) = static_cast<uint8_t>(late ? Answer::late : Answer::prefetched);
  }

 private:
  PlainInstructionCache cache_;
};

/// Code that one entry of the micro-op cache can hold: instructions of one window.
struct Fetch {
  uint64_t start = 0;     // address of the first instruction
  uint8_t end = 0;        // end of the last instruction, from the window's start; up to 78
  uint8_t micro_ops = 0;  // at most as many as an entry holds

  uint64_t window() const { return start >> kWindowShift; }
};

/// The micro-op cache. An entry begins where control entered a window, or where the previous entry
/// was full, and continues until the window ends, the entry is full, or a taken branch leaves. Code
/// that is entered at two places of a window is held twice, once from each place on.
template <unsigned kSets, unsigned kWays, unsigned kOps, unsigned kEntriesOfWindow>
class MicroOpCache {
 public:
  static constexpr unsigned kOpsOfEntry = kOps;

  MicroOpCache() {
    for (Set& set : sets_) set.starts.fill(~uint64_t{0});
  }

  /// Returns whether the cache holds all of `fetch`, and inserts it if not. `continues`: control
  /// fell through from the previous fetch.
  bool access(const Fetch& fetch, bool continues) {
    Set& set = sets_[fetch.window() % kSets];
    const unsigned last = set.last;
    const bool goes_on = continues && set.starts[last] == start_ &&
                         start_ >> kWindowShift == fetch.window() &&
                         set.ends[last] >= fetch.start % (1u << kWindowShift);
    // Most accesses are to the most recently used entry of a set.
    if ((goes_on || set.starts[last] == fetch.start) && fetch.end <= set.ends[last]) {
      start_ = set.starts[last];
      return true;
    }
    if (goes_on && set.micro_ops[last] + fetch.micro_ops <= kOps)
      return put(set, last, fetch.end, set.micro_ops[last] + fetch.micro_ops);
    return search(set, fetch);
  }

 private:
  struct Set {
    std::array<uint64_t, kWays> starts;
    std::array<uint64_t, kWays> used{};  // time of last use
    std::array<uint8_t, kWays> ends{};   // as in Fetch
    std::array<uint8_t, kWays> micro_ops{};
    uint8_t last = 0;  // the most recently used way
  };

  bool search(Set& set, const Fetch& fetch) {
    start_ = fetch.start;
    uint8_t& hint = hints_[fetch.start % hints_.size()];  // usually the way of this start
    unsigned way = hint;
    if (set.starts[way] != fetch.start) {
      way = kWays;
      for (unsigned i = 0; i < kWays; ++i) way = set.starts[i] == fetch.start ? i : way;
    }
    if (way < kWays && fetch.end <= set.ends[way]) {
      hint = uint8_t(way);
      use(set, way);
      return true;
    }
    if (way == kWays) way = victim(set, fetch.window());
    hint = uint8_t(way);
    set.starts[way] = fetch.start;
    return put(set, way, fetch.end, fetch.micro_ops);
  }

  /// Extends an entry to `end`; returns false: a miss.
  bool put(Set& set, unsigned way, uint8_t end, unsigned micro_ops) {
    set.ends[way] = end;
    set.micro_ops[way] = uint8_t(micro_ops);
    use(set, way);
    return false;
  }

  void use(Set& set, unsigned way) {
    set.used[way] = ++clock_;
    set.last = uint8_t(way);
  }

  /// The way that a new entry of a window takes.
  static unsigned victim(const Set& set, uint64_t window) {
    unsigned oldest = 0, oldest_of_window = kWays, of_window = 0;
    for (unsigned way = 0; way < kWays; ++way) {
      if (set.used[way] < set.used[oldest]) oldest = way;
      if (set.starts[way] >> kWindowShift != window) continue;
      ++of_window;
      if (oldest_of_window == kWays || set.used[way] < set.used[oldest_of_window])
        oldest_of_window = way;
    }
    return of_window < kEntriesOfWindow ? oldest : oldest_of_window;
  }

  std::array<Set, kSets> sets_;
  std::array<uint8_t, 2048> hints_{};
  uint64_t clock_ = 0;
  uint64_t start_ = ~uint64_t{0};  // of the entry of the last fetch
};

}  // namespace respike::measure::x86
