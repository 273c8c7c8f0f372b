#pragma once
// Temporal relations: which lines of code take turns.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/layout/walk.h"

namespace respike {

/// How often every two lines of code took turns. Takes two bytes for each line times each line.
class Turns {
 public:
  explicit Turns(uint32_t lines)
      : lines_(lines), counts_(size_t{lines} * (lines + size_t{1}) / 2) {}
  uint32_t lines() const { return lines_; }
  /// Symmetric.
  uint32_t& between(uint32_t a, uint32_t b) { return counts_[index(a, b)]; }
  uint32_t between(uint32_t a, uint32_t b) const { return counts_[index(a, b)]; }

 private:
  static size_t index(uint32_t a, uint32_t b) {
    return a > b ? size_t{a} * (a + size_t{1}) / 2 + b : size_t{b} * (b + size_t{1}) / 2 + a;
  }
  uint32_t lines_;
  std::vector<uint32_t> counts_;  // a triangle
};

/// The places of code: for every block, by number, the lines that hold it, half-open.
using LinesOfBlocks = std::vector<std::pair<uint32_t, uint32_t>>;

/// For every two of `lines` cache lines: how often one line ran between two runs of the other that
/// were near each other. If n other lines ran between the two runs, with n < weights.size(), this
/// counts weights[n]. Lines that take turns and share a set of the cache throw each other out (Gloy
/// and Smith, "Procedure placement using temporal-ordering information", TOPLAS 1999, section 4,
/// the temporal-relationship graph). Where there is much to count, only the beginning of the trace
/// counts.
Turns find_turns(const Trace& trace, const LinesOfBlocks& lines_of, uint32_t lines,
                 std::span<const uint32_t> weights);

}  // namespace respike
