#pragma once
// Where the Itanium 2 fetches its instructions from: first level, second level, translation
// buffers.
//
// Sources: ISI is "Itanium - A System Implementor's Tale", section 4.1 (sizes, ways, lines, both
// levels of translation buffers); memory is the Itanium 2 reference manual for software development
// and optimization (251110), not available when this was written. Caches and buffers replace the
// least recently used way or entry, which is assumed. Addresses are virtual; hardware indexes the
// second level physically. Not modelled: data accesses, which share the second level in hardware;
// prefetches; misses of the third level, which is taken to hold everything.

#include <cstdint>

#include "models/lru_cache.h"

namespace respike::measure::itanium2 {

/// First level: 16 KB, 4 ways, lines of 64 bytes (ISI).
struct InstructionCache : LruCache<64, 4> {
  static constexpr unsigned kLineShift = 6;
};

/// Second level: 256 KB, 8 ways, lines of 128 bytes (ISI).
struct SecondLevelCache : LruCache<256, 8> {
  static constexpr unsigned kLineShift = 7;
};

/// First level of the translation buffer: 32 entries, fully associative (ISI). An entry maps 4 KB
/// regardless of the page size (memory).
struct TranslationBuffer : LruCache<1, 32> {
  static constexpr unsigned kPageShift = 12;
};

/// Second level of the translation buffer: 128 entries, fully associative, pages of 16 KB (ISI).
struct SecondTranslationBuffer : LruCache<1, 128> {
  static constexpr unsigned kPageShift = 14;
};

}  // namespace respike::measure::itanium2
