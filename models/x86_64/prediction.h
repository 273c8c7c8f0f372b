#pragma once
// How an x86-64 processor predicts where control goes.
//
// Directions: TAGE (Seznec and Michaud, "A case for (partially) tagged geometric history length
// branch predictors", JILP 8, 2006), which AMD names as the kind of its predictor, and which
// Intel's predictor resembles as far as is known. Sizes and lengths of histories are assumed, and
// the same for all processors: a table of two-bit counters, and four tables with tags whose
// histories have 6, 16, 44 and 120 outcomes. Example: a branch that is taken in every second
// iteration of a loop is predicted correctly with the history of 6 outcomes, although its two-bit
// counter alternates.
//
// Targets of indirect branches: the last target, and two tables with tags, by the last two and the
// last six targets of indirect branches. Sizes depend on the processor, the organization is
// assumed.
//
// Targets of other branches, and the presence of a branch: levels of a branch target buffer. A
// branch is in the buffer if it was taken before.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "models/lru_cache.h"

namespace respike::measure::x86 {

/// Directions of conditional branches.
class DirectionPredictor {
 public:
  static constexpr unsigned kTables = 4;
  static constexpr std::array<unsigned, kTables> kLengths = {6, 16, 44, 120};

  DirectionPredictor() { base_.fill(1); }  // weakly not taken

  /// Returns whether the prediction for the branch at `address` was right; learns the outcome.
  bool predict(uint64_t address, bool taken) {
    const Found found = find(address);
    const bool right = found.prediction == taken;
    learn(found, taken);
    if (!right) allocate(found, taken);
    if (++branches_ % kAging == 0) age();
    push(taken);
    return right;
  }

  /// Adds the target of an indirect branch to the history.
  void note_target(uint64_t target) {
    push((target >> 4 ^ target >> 6) & 1);
    push((target >> 5 ^ target >> 7) & 1);
  }

 private:
  static constexpr unsigned kBaseBits = 13, kIndexBits = 10, kTagBits = 11;
  static constexpr uint64_t kAging = uint64_t{1} << 18;  // branches between agings

  /// 16 bits, so that the tables stay in the first level of the host.
  struct Entry {
    uint16_t tag : kTagBits = 0;
    uint16_t counter : 3 = 4;  // taken from 4 on
    uint16_t useful : 2 = 0;

    bool is_new() const { return useful == 0 && (counter == 4 || counter == 3); }
    bool taken() const { return counter >= 4; }
  };
  struct Found {
    std::array<Entry*, kTables> entries;
    std::array<uint32_t, kTables> tags;
    uint8_t* base;
    int provider = -1;  // the table with the longest history that knows the branch; -1: the base
    bool alternative;   // the prediction without the provider
    bool prediction;
  };

  /// Index and tag of a branch in each table. Hardware folds the bits of histories by exclusive or;
  /// a product mixes them equally well and takes less time here. Returns the tables that know the
  /// branch, as bits.
  unsigned place(uint64_t address, Found& found) {
    constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;
    const uint64_t branch = (address + 1) * 0xc2b2ae3d27d4eb4fu;
    const uint64_t older = (history_[1] & ((uint64_t{1} << (kLengths[3] - 64)) - 1)) * kMix;
    const std::array<uint64_t, kTables> histories = {
        history_[0] & ((uint64_t{1} << kLengths[0]) - 1),
        history_[0] & ((uint64_t{1} << kLengths[1]) - 1),
        history_[0] & ((uint64_t{1} << kLengths[2]) - 1), history_[0] ^ older >> 7};
    unsigned known = 0;
#pragma GCC unroll 4
    for (unsigned t = 0; t < kTables; ++t) {
      const uint64_t hash = ((histories[t] * kMix ^ branch) + t) * kMix;
      Entry& entry = tables_[t][hash >> (64 - kIndexBits)];
      const uint32_t tag = hash >> (64 - kIndexBits - kTagBits) & ((1u << kTagBits) - 1);
      known |= unsigned{entry.tag == tag} << t;  // no jumps, which would be hard to predict
      found.entries[t] = &entry;
      found.tags[t] = tag;
    }
    return known;
  }

  Found find(uint64_t address) {
    Found found;
    const unsigned known = place(address, found);
    found.base = &base_[(address ^ address >> kBaseBits) % (1u << kBaseBits)];
    found.alternative = found.prediction = *found.base >= 2;
    if (known == 0) return found;
    const auto provider = unsigned(std::bit_width(known)) - 1;
    const unsigned others = known ^ 1u << provider;
    if (others != 0)
      found.alternative = found.entries[unsigned(std::bit_width(others)) - 1]->taken();
    const Entry& entry = *found.entries[provider];
    found.provider = int(provider);
    found.prediction = entry.is_new() && trust_ < 0 ? found.alternative : entry.taken();
    return found;
  }

  void learn(const Found& found, bool taken) {
    if (found.provider < 0) {
      constexpr uint8_t kNext[2][4] = {{0, 0, 1, 2}, {1, 2, 3, 3}};
      *found.base = kNext[taken][*found.base];
      return;
    }
    Entry& entry = *found.entries[unsigned(found.provider)];
    const bool own = entry.taken();
    if (own != found.alternative) {
      const bool helps = own == taken;
      if (entry.is_new()) trust_ = std::clamp(trust_ + (helps ? 1 : -1), -8, 7);
      entry.useful = std::clamp(entry.useful + (helps ? 1 : -1), 0, 3) & 3;
    }
    entry.counter = std::clamp(entry.counter + (taken ? 1 : -1), 0, 7) & 7;
  }

  /// After a wrong prediction a table with a longer history gets an entry for the branch.
  void allocate(const Found& found, bool taken) {
    bool is_full = true;
    for (unsigned t = unsigned(found.provider + 1); t < kTables; ++t) {
      Entry& entry = *found.entries[t];
      if (entry.useful != 0) continue;
      entry.tag = found.tags[t] & ((1u << kTagBits) - 1);
      entry.counter = taken ? 4 : 3;
      is_full = false;
      break;
    }
    for (unsigned t = unsigned(found.provider + 1); is_full && t < kTables; ++t)
      found.entries[t]->useful -= 1;
  }

  void age() {
    for (auto& table : tables_)
      for (Entry& entry : table) entry.useful >>= 1;
  }

  void push(bool outcome) {
    history_[1] = history_[1] << 1 | history_[0] >> 63;
    history_[0] = history_[0] << 1 | uint64_t{outcome};
  }

  std::array<uint8_t, 1u << kBaseBits> base_;  // two bits each
  std::array<std::array<Entry, 1u << kIndexBits>, kTables> tables_;
  std::array<uint64_t, 2> history_{};  // the last outcome in the lowest bit
  int trust_ = 0;                      // trust new entries if it is not negative
  uint64_t branches_ = 0;
};

/// Targets of indirect branches: `kEntries` in both tables together.
template <unsigned kEntries>
class TargetPredictor {
 public:
  /// Returns whether the branch at `address` was predicted to go to `target`; learns the target.
  bool predict(uint64_t address, uint64_t target) {
    uint64_t& last = last_[(address ^ address >> 12) % last_.size()];
    constexpr uint64_t kTwoTargets = (uint64_t{1} << 2 * kShift) - 1;
    Entry& near = place(near_, address, history_ & kTwoTargets);
    Entry& far = place(far_, address, history_);
    const uint64_t near_key = key(address, history_ & kTwoTargets),
                   far_key = key(address, history_);
    const bool in_near = near.key == near_key, in_far = far.key == far_key;
    const uint64_t prediction = in_far ? far.target : in_near ? near.target : last;
    const bool right = prediction == target;
    if (in_far)
      learn(far, target);
    else if (in_near)
      learn(near, target);
    if (!right && !in_near) replace(near, near_key, target);
    if (!right && in_near && !in_far) replace(far, far_key, target);
    last = target;
    history_ = history_ << kShift ^ (target ^ target >> kShift) % (1u << kShift);
    return right;
  }

 private:
  static constexpr unsigned kShift = 10;  // bits of the history for each target

  struct Entry {
    uint64_t key = 0, target = 0;
    uint8_t confidence = 0;  // 0 to 3
  };
  using Table = std::array<Entry, kEntries / 2>;

  static uint64_t key(uint64_t address, uint64_t history) {
    return (address + 1) * 0x9e3779b97f4a7c15u ^ history * 0xc2b2ae3d27d4eb4fu;
  }
  static Entry& place(Table& table, uint64_t address, uint64_t history) {
    return table[(key(address, history) >> 20) % table.size()];
  }
  static void learn(Entry& entry, uint64_t target) {
    if (entry.target == target)
      entry.confidence += entry.confidence < 3;
    else if (entry.confidence > 0)
      --entry.confidence;
    else
      entry.target = target;
  }
  static void replace(Entry& entry, uint64_t key, uint64_t target) {
    if (entry.confidence > 0)
      --entry.confidence;
    else
      entry = {key, target, 0};
  }

  std::array<uint64_t, 4096> last_{};  // stands for the targets in the branch target buffer
  Table near_{}, far_{};
  uint64_t history_ = 0;
};

/// A level of the branch target buffer. Bits of the address above the index are folded into it.
template <unsigned kSets, unsigned kWays>
class BranchTargets {
 public:
  /// Returns whether the level knew the branch at `address`; learns it.
  bool access(uint64_t address) { return cache_.access(address ^ address >> 7 ^ address >> 17); }

 private:
  LruCache<kSets, kWays> cache_;
};

/// The levels of the branch target buffer.
template <typename First, typename Second, typename Third>
class BranchTargetBuffer {
 public:
  enum class Level : uint8_t { first, second, third, none };

  /// Returns the level that knew the branch at `address`; all levels learn it.
  Level access(uint64_t address) {
    if (first_.access(address)) return Level::first;
    const bool in_second = second_.access(address), in_third = third_.access(address);
    return in_second ? Level::second : in_third ? Level::third : Level::none;
  }

 private:
  First first_;
  Second second_;
  Third third_;
};

/// A level that the processor does not have.
struct NoBranchTargets {
  bool access(uint64_t) { return false; }
};

}  // namespace respike::measure::x86
