#pragma once
// How readers of unwind tables treat overlapping descriptions of code.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "optimizer/unwind/unwind.h"

namespace respike {

/// Sorts descriptions, which have a `start` and an `end`. It is not known which of several
/// overlapping descriptions an unwinder would take: all of them are dropped, and their range is
/// appended to `unreadable`. Example: for [0x1000, 0x1040) and [0x1020, 0x1060), [0x1000, 0x1060)
/// is appended.
template <typename T>
void set_overlaps_aside(std::vector<T>& pending, AddressRanges& unreadable) {
  std::stable_sort(pending.begin(), pending.end(),
                   [](const T& a, const T& b) { return a.start < b.start; });
  size_t kept = 0;
  for (size_t first = 0; first < pending.size();) {
    size_t next = first + 1;
    uint64_t end = pending[first].end;
    for (; next < pending.size() && pending[next].start < end; ++next)
      end = std::max(end, pending[next].end);
    if (next == first + 1)
      pending[kept++] = pending[first];
    else
      unreadable.emplace_back(pending[first].start, end);
    first = next;
  }
  pending.resize(kept);
}

/// Sorts ranges, and drops duplicates.
inline void sort_ranges(AddressRanges& ranges) {
  std::sort(ranges.begin(), ranges.end());
  ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
}

}  // namespace respike
