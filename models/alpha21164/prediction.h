#pragma once
// How the 21164 predicts where control goes.
//
// Source: HRM, section 2.1.1, from memory (see fetch.h). Each of the 2,048 instruction locations of
// the instruction cache has two bits of history. A fill of the cache does not clear the bits, so
// that branches 8 KB apart share them. The state at power-up is not defined; here it is "weakly not
// taken".

#include <array>
#include <cstdint>

#include "models/return_stack.h"

namespace respike::measure::alpha21164 {

/// Two-bit saturating counters, one per instruction location of the instruction cache.
class BranchHistory {
 public:
  static constexpr unsigned kCounters = 2048;

  BranchHistory() { counters_.fill(1); }

  /// Whether the prediction for the conditional branch at `address` was right; learns the outcome.
  bool predict(uint64_t address, bool taken) {
    uint8_t& counter = counters_[address / 4 % kCounters];
    const bool right = (counter >= 2) == taken;
    if (taken)
      counter += counter < 3;
    else
      counter -= counter > 0;
    return right;
  }

 private:
  std::array<uint8_t, kCounters> counters_;
};

/// Return stack: 12 entries.
using ReturnStack = measure::ReturnStack<12>;

/// Whether the hint of a jump names the jump's target. The hint gives bits 15:2 of the target, as a
/// displacement from the instruction after the jump (Alpha Architecture Handbook, 4.3.2). The other
/// bits are assumed to be right: the tag of the fetched line supplies them.
inline bool hint_is_right(uint64_t behind, int32_t hint, uint64_t target) {
  return ((behind + uint64_t(int64_t{hint}) * 4) & 0xfffc) == (target & 0xfffc);
}

}  // namespace respike::measure::alpha21164
