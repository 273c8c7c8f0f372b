#pragma once
// How the model of the Itanium 2 predicts where control goes.
//
// The hardware predicts in two levels, as Yeh and Patt described: a branch's last four outcomes
// choose a counter. It keeps outcomes and counters in the instruction cache and in a larger table
// beyond the cache (McNairy and Soltis, "Itanium 2 Processor Microarchitecture", IEEE Micro 2003;
// from memory). Here one table stands for both, and a branch has its own 16 counters; sizes are
// assumed. A static hint is always followed (architecture manual 1, 4.5.2); a dynamic hint
// initialises the counters when the branch replaces another branch in the table. An indirect branch
// is predicted to go to its last target: assumed. The return stack has 8 entries (memory).

#include <array>
#include <cstdint>

namespace respike::measure::itanium2 {

/// The completer of a branch, in the order of its encoding.
enum class Hint : uint8_t { static_taken, static_not_taken, dynamic_taken, dynamic_not_taken };

/// Directions of conditional branches. A branch is named by its bundle's address plus its slot.
class BranchHistory {
 public:
  static constexpr unsigned kBranches = 4096;
  static constexpr unsigned kOutcomes = 4;  // remembered for each branch

  /// Returns whether the prediction for `branch` was right; learns the outcome.
  bool predict(uint64_t branch, Hint hint, bool taken) {
    if (hint == Hint::static_taken || hint == Hint::static_not_taken)
      return taken == (hint == Hint::static_taken);
    Entry& entry = entries_[(branch >> 4 ^ branch << 10) % kBranches];
    if (entry.branch != branch) {
      entry.branch = branch;
      entry.outcomes = 0;
      entry.counters.fill(hint == Hint::dynamic_taken ? 2 : 1);
    }
    uint8_t& counter = entry.counters[entry.outcomes];
    const bool right = (counter >= 2) == taken;
    if (taken)
      counter += counter < 3;
    else
      counter -= counter > 0;
    entry.outcomes = static_cast<uint8_t>((entry.outcomes << 1 | (taken ? 1 : 0)) % kPatterns);
    return right;
  }

 private:
  static constexpr unsigned kPatterns = 1u << kOutcomes;
  struct Entry {
    uint64_t branch = ~uint64_t{0};
    uint8_t outcomes = 0;                       // the last outcomes, the latest in the lowest bit
    std::array<uint8_t, kPatterns> counters{};  // two bits each, by the previous outcomes
  };
  std::array<Entry, kBranches> entries_;
};

/// The last target of indirect branches.
class TargetTable {
 public:
  static constexpr unsigned kEntries = 1024;

  /// Returns whether the branch went to `target` the last time; learns `target`.
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

}  // namespace respike::measure::itanium2
