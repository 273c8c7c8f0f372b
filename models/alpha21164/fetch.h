#pragma once
// Where the 21164 fetches its instructions from: instruction cache, refill buffer, second level,
// ITB (instruction translation buffer).
//
// Example: a jump to a line that none of them holds costs one icache miss and one second level
// miss, and the refill buffer prefetches the four lines after that line.
//
// Addresses are virtual throughout. The first level is also indexed virtually in hardware. The
// second level is indexed physically, which makes no difference if the operating system maps pages
// to colours in order. Data accesses are not modelled: in hardware they share the second level.
//
// Sources: HRM is the Alpha 21164 Microprocessor Hardware Reference Manual (EC-QAEQD-TE, 1996),
// section 2.1, quoted from memory. PC is the 21164PC Hardware Reference Manual (1997), sections
// 2.1.1.2 and 2.3, which was read; the 21164PC differs in the sizes of caches.

#include <array>
#include <cstdint>

#include "models/lru_cache.h"

namespace respike::measure::alpha21164 {

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

/// Second level: 96 KB, 3 ways (HRM 2.1.4), blocks of 64 bytes. The sources do not say which way is
/// replaced; the model replaces the least recently used way.
class SecondLevelCache {
 public:
  static constexpr unsigned kBlockShift = 6;
  static constexpr unsigned kSets = 512;
  static constexpr unsigned kWays = 3;

  /// Returns whether the cache held the block, and inserts the block if not. Block numbers are
  /// addresses shifted by kBlockShift.
  bool access(uint64_t block) { return cache_.access(block); }

 private:
  LruCache<kSets, kWays> cache_;
};

/// Refill buffer: four lines (PC 2.1.1.2). If the buffer holds the line that the cache misses, the
/// line moves to the cache and the next line is prefetched in its place. If not, the buffer
/// discards its lines and prefetches the four lines after the missing line. Prefetches arrive
/// before they are needed, cross pages, and do not look into the cache.
class RefillBuffer {
 public:
  static constexpr unsigned kEntries = 4;

  enum class Answer : uint8_t { none, from_second_level, from_behind };

  /// Answers a miss of `line`. If the buffer holds `line`, prefetches one more line in its place.
  Answer find(uint64_t line, SecondLevelCache& second_level) {
    for (Entry& entry : entries_) {
      if (entry.line != line) continue;
      const Answer answer = entry.answer;
      prefetch(entry, second_level);
      return answer;
    }
    return Answer::none;
  }

  /// Prefetches the four lines after `line`, which the buffer did not hold.
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

  /// Returns whether the buffer held the page, and inserts the page if not.
  bool access(uint64_t page) {
    if (page == pages_[last_]) return true;  // a used entry is never replaced next
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

}  // namespace respike::measure::alpha21164
