#pragma once
// Where the Itanium 2 gets its instructions from: first level, second level, translation buffers.
//
// Sources: ISI is "Itanium - A System Implementor's Tale", section 4.1 (sizes, ways, lines, both
// levels of translation buffers); memory: the Itanium 2 reference manual for software development
// and optimization (251110), not at hand when this was written. All replace the least recently used
// way or entry, which is assumed. Addresses are virtual: the second level is indexed physically in
// hardware. Data accesses, which share the second level there, are not modelled, nor are prefetches
// and the third level: everything that the second level lacks is in the third.

#include <cstdint>

#include "simulator/lru_cache.h"

namespace respike::simulator::itanium2 {

/// First level: 16 KB, 4 ways, lines of 64 bytes (ISI).
struct InstructionCache : LruCache<64, 4> {
  static constexpr unsigned kLineShift = 6;
};

/// Second level: 256 KB, 8 ways, lines of 128 bytes (ISI).
struct SecondLevelCache : LruCache<256, 8> {
  static constexpr unsigned kLineShift = 7;
};

/// First level of the translation buffer: 32 entries, fully associative (ISI), of 4 KB whatever the
/// size of the page (memory).
struct TranslationBuffer : LruCache<1, 32> {
  static constexpr unsigned kPageShift = 12;
};

/// Second level: 128 entries, fully associative, pages of 16 KB (ISI).
struct SecondTranslationBuffer : LruCache<1, 128> {
  static constexpr unsigned kPageShift = 14;
};

}  // namespace respike::simulator::itanium2
