// Lines are kept in a list by the time of their last run, the latest last. The list is as long as
// the window. When a line runs again, the lines after it in the list have run in between.
//
// Example: A B C A. When A runs again, B and C are after it: A takes a turn with each.
//
// Most of the time goes into walking through the lines after it. So counting stops after
// kMostTurns: a loop that nearly fills the window counts most, and looks the same after a few
// turns. The list is an array with twice the room, so its end is contiguous and moves only now and
// then.

#include "optimizer/layout/turns.h"

#include <algorithm>

namespace respike {
namespace {

constexpr uint64_t kMostTurns = 100'000'000;  // an upper limit

class Recent {
 public:
  Recent(uint32_t lines, std::span<const uint32_t> weights)
      : weights_(weights), list_(kStride + 2 * weights.size() + 2), listed_(lines), turns_(lines) {}

  void clear() {
    while (first_ != end_) listed_[list_[first_++]] = false;
  }

  void run(uint32_t line) {
    if (first_ != end_ && list_[end_ - 1] == line) return;
    if (listed_[line]) {
      const size_t at = find_last(line);
      count_turns(line, at + 1);
      std::copy(list_.data() + at + 1, list_.data() + end_, list_.data() + at);
      list_[end_ - 1] = line;
      return;
    }
    if (end_ == list_.size()) {
      std::copy(list_.data() + first_, list_.data() + end_, list_.data() + kStride);
      end_ -= first_ - kStride;
      first_ = kStride;
    }
    list_[end_++] = line;
    listed_[line] = true;
    if (end_ - first_ > weights_.size()) listed_[list_[first_++]] = false;
  }

  uint64_t counted() const { return counted_; }
  Turns& turns() { return turns_; }

 private:
  static constexpr size_t kStride = 16;  // lines that are looked at together

  /// The index of a line that is in the list. Most lines are near its end.
  size_t find_last(uint32_t line) const {
    for (size_t end = end_;; end -= kStride) {
      const uint32_t* some = list_.data() + end - kStride;
      uint32_t found = 0;  // a sum: compilers do not use vectors for a branch per line
      for (size_t i = 0; i < kStride; ++i) found += some[i] == line;
      if (found == 0) continue;
      size_t at = end - 1;
      while (list_[at] != line) --at;
      return at;
    }
  }

  /// Counts a turn of `line` with each line of the list from index `behind` on.
  void count_turns(uint32_t line, size_t behind) {
    const uint32_t weight = weights_[end_ - behind];
    if (weight == 0) return;
    for (size_t other = behind; other != end_; ++other)
      turns_.between(list_[other], line) += weight;
    counted_ += end_ - behind;
  }

  const std::span<const uint32_t> weights_;
  std::vector<uint32_t> list_;
  size_t first_ = kStride, end_ = kStride;  // of the list; a stride before it holds no lines
  std::vector<bool> listed_;
  uint64_t counted_ = 0;
  Turns turns_;
};

}  // namespace

Turns find_turns(const Trace& trace, const LinesOfBlocks& lines_of, uint32_t lines,
                 std::span<const uint32_t> weights) {
  Recent recent(lines, weights);
  for (const uint32_t block : trace) {
    if (recent.counted() > kMostTurns) break;
    if (block == kNone) {
      recent.clear();
      continue;
    }
    const auto [first, end] = lines_of[block];
    for (uint32_t line = first; line < end; ++line) recent.run(line);
  }
  return std::move(recent.turns());
}

}  // namespace respike
