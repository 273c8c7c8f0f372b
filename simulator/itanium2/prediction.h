#pragma once
// How the model of the Itanium 2 predicts where control goes.
//
// The hardware has a two-level predictor with histories in the instruction cache and in a second
// branch cache, whose details no source at hand gives. Here it is simple: a branch whose hint is
// static is predicted by it for ever; one with a dynamic hint has a two-bit counter, which the hint
// initialises when the branch takes the place of another one in the table. Targets of indirect
// branches are those of the last time. The return stack has 8 entries (from memory). All sizes but
// that are assumed.

#include <array>
#include <cstdint>

namespace respike::simulator::itanium2 {

/// The completer of a branch, in the order of its encoding.
enum class Hint : uint8_t { static_taken, static_not_taken, dynamic_taken, dynamic_not_taken };

/// Two-bit saturating counters by branch, which is a bundle's address and a slot in its low bits.
class BranchHistory {
 public:
  static constexpr unsigned kEntries = 4096;

  /// Whether the prediction was right; learns the outcome.
  bool predict(uint64_t branch, Hint hint, bool taken) {
    if (hint == Hint::static_taken || hint == Hint::static_not_taken)
      return taken == (hint == Hint::static_taken);
    Entry& entry = entries_[(branch >> 4 ^ branch << 10) % kEntries];
    if (entry.branch != branch)
      entry = {branch, static_cast<uint8_t>(hint == Hint::dynamic_taken ? 2 : 1)};
    const bool right = (entry.counter >= 2) == taken;
    if (taken)
      entry.counter += entry.counter < 3;
    else
      entry.counter -= entry.counter > 0;
    return right;
  }

 private:
  struct Entry {
    uint64_t branch = ~uint64_t{0};
    uint8_t counter = 0;
  };
  std::array<Entry, kEntries> entries_;
};

/// The last target of indirect branches.
class TargetTable {
 public:
  static constexpr unsigned kEntries = 1024;

  /// Whether the branch went there the last time; learns the target.
  bool predict(uint64_t branch, uint64_t target) {
    Entry& entry = entries_[(branch >> 4) % kEntries];
    const bool right = entry.branch == branch && entry.target == target;
    entry = {branch, target};
    return right;
  }

 private:
  struct Entry {
    uint64_t branch = ~uint64_t{0}, target = 0;
  };
  std::array<Entry, kEntries> entries_;
};

}  // namespace respike::simulator::itanium2
