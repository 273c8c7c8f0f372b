// A list of lines by the time of their last run, the latest first, as long as the window. When a
// line runs again, those in front of it have run in between.
//
// Going through those in front is what takes time: the trace is left early where it has to be done
// often, as in a loop that nearly fills the window, which looks the same after a few turns.

#include "optimizer/layout/turns.h"

namespace respike {
namespace {

constexpr uint64_t kMostTurns = 100'000'000;  // that are counted

class Recent {
 public:
  Recent(uint32_t lines, std::span<const uint32_t> weights)
      : end_(lines), weights_(weights), links_(lines + size_t{1}), listed_(lines), turns_(lines) {
    links_[end_] = {end_, end_};
  }

  void clear() {
    while (size_ != 0) remove(links_[end_].next);
  }

  void run(uint32_t line) {
    if (links_[end_].next == line) return;
    if (listed_[line]) {
      count_turns(line);
      remove(line);
    }
    insert_first(line);
    if (size_ > weights_.size()) remove(links_[end_].previous);
  }

  uint64_t counted() const { return counted_; }
  Turns& turns() { return turns_; }

 private:
  struct Link {
    uint32_t previous, next;
  };

  void count_turns(uint32_t line) {
    uint32_t between = 0;
    for (uint32_t other = links_[end_].next; other != line; other = links_[other].next) ++between;
    const uint32_t weight = weights_[between];
    if (weight == 0) return;
    for (uint32_t other = links_[end_].next; other != line; other = links_[other].next)
      turns_.between(other, line) += weight;
    counted_ += between;
  }
  void insert_first(uint32_t line) {
    links_[line] = {end_, links_[end_].next};
    links_[links_[end_].next].previous = line;
    links_[end_].next = line;
    listed_[line] = true;
    ++size_;
  }
  void remove(uint32_t line) {
    const Link link = links_[line];
    links_[link.previous].next = link.next;
    links_[link.next].previous = link.previous;
    listed_[line] = false;
    --size_;
  }

  const uint32_t end_;  // of the ring
  const std::span<const uint32_t> weights_;
  std::vector<Link> links_;  // a ring, with its end behind the lines
  std::vector<bool> listed_;
  uint32_t size_ = 0;  // of the list
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
