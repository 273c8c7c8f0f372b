#pragma once
// Where the 21164 gets its instructions from: instruction cache, refill buffer, second level, ITB.
//
// Addresses are virtual throughout. The first level is indexed virtually in hardware, too; the
// second level is indexed physically, which is the same if the operating system maps pages to
// colours in order. Data accesses are not modelled: in hardware they share the second level.
//
// Sources: HRM is the Alpha 21164 Microprocessor Hardware Reference Manual (EC-QAEQD-TE, 1996),
// section 2.1, quoted from memory; PC is the 21164PC's (1997), sections 2.1.1.2 and 2.3, which was
// read: it differs in the sizes of caches.

#include <array>
#include <cstdint>

#include "simulator/lru_cache.h"

namespace respike::simulator::alpha21164 {

/// Instruction cache: 8 KB, direct-mapped, lines of 32 bytes (HRM 2.1.1).
class InstructionCache {
 public:
  static constexpr unsigned kLineShift = 5;
  static constexpr unsigned kLines = 256;

  InstructionCache() { tags_.fill(~uint64_t{0}); }

  /// Line numbers are addresses shifted by kLineShift.
  bool holds(uint64_t line) const { return tags_[line % kLines] == line; }
  void fill(uint64_t line) { tags_[line % kLines] = line; }

 private:
  std::array<uint64_t, kLines> tags_;
};

/// Second level: 96 KB, 3 ways (HRM 2.1.4), blocks of 64 bytes. Which way is replaced is not in the
/// sources at hand: here it is the least recently used one.
class SecondLevelCache {
 public:
  static constexpr unsigned kBlockShift = 6;
  static constexpr unsigned kSets = 512;
  static constexpr unsigned kWays = 3;

  /// Whether the block was there; afterwards it is. Block numbers are addresses shifted by
  /// kBlockShift.
  bool access(uint64_t block) { return cache_.access(block); }

 private:
  LruCache<kSets, kWays> cache_;
};

/// Refill buffer: four lines (PC 2.1.1.2). A miss of the cache that the buffer does not answer
/// discards what it holds and prefetches the four lines behind the missing one; one that it answers
/// moves the line to the cache and prefetches the next in its place. Prefetches arrive before they
/// are needed, cross pages, and do not look into the cache.
class RefillBuffer {
 public:
  static constexpr unsigned kEntries = 4;

  enum class Answer : uint8_t { none, from_second_level, from_behind };

  /// Answers a miss of `line`; prefetches one more line if it holds it.
  Answer find(uint64_t line, SecondLevelCache& second_level) {
    for (Entry& entry : entries_) {
      if (entry.line != line) continue;
      const Answer answer = entry.answer;
      prefetch(entry, second_level);
      return answer;
    }
    return Answer::none;
  }

  /// Prefetches what is behind a line that it did not hold.
  void start_behind(uint64_t line, SecondLevelCache& second_level) {
    next_ = line + 1;
    for (Entry& entry : entries_) prefetch(entry, second_level);
  }

 private:
  struct Entry {
    uint64_t line = ~uint64_t{0};
    Answer answer = Answer::none;
  };

  void prefetch(Entry& entry, SecondLevelCache& second_level) {
    entry.line = next_++;
    const bool hit = second_level.access(
        entry.line >> (SecondLevelCache::kBlockShift - InstructionCache::kLineShift));
    entry.answer = hit ? Answer::from_second_level : Answer::from_behind;
  }

  std::array<Entry, kEntries> entries_;
  uint64_t next_ = 0;  // the line that is prefetched next
};

/// Instruction translation buffer: 48 entries, fully associative, not-last-used replacement (HRM
/// 2.1.1): a pointer names the entry to replace and moves on when that entry is used. Pages of
/// 8 KB; granularity hints, which let one entry map up to 512 KB, are not modelled.
class TranslationBuffer {
 public:
  static constexpr unsigned kPageShift = 13;
  static constexpr unsigned kEntries = 48;

  TranslationBuffer() { pages_.fill(~uint64_t{0}); }

  /// Whether the page was there; afterwards it is.
  bool access(uint64_t page) {
    if (page == pages_[last_]) return true;  // a used entry is never the one to replace
    for (unsigned i = 0; i < kEntries; ++i) {
      if (pages_[i] != page) continue;
      use(i);
      return true;
    }
    pages_[victim_] = page;
    use(victim_);
    return false;
  }

 private:
  void use(unsigned entry) {
    last_ = entry;
    if (entry == victim_) victim_ = (victim_ + 1) % kEntries;
  }

  std::array<uint64_t, kEntries> pages_;
  unsigned last_ = 0;
  unsigned victim_ = 0;
};

}  // namespace respike::simulator::alpha21164
