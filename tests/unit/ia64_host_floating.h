#pragma once
// The host's floating-point with chosen rounding mode, and the exceptions that it reports.
//
// MXCSR's flags have the order of IA-64's (V D Z O U I), and the host also detects tininess after
// rounding, so both can be compared bit by bit.

#include <immintrin.h>

#include <cfenv>
#include <cstdint>

#include "simulator/ia64/floating_status.h"

namespace respike::test {

/// Rounds as told while it lives; flags are those since then.
class HostFloating {
 public:
  explicit HostFloating(simulator::ia64::Rounding rounding) {
    constexpr int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    std::feclearexcept(FE_ALL_EXCEPT | 2);  // 2: denormal operand
    std::fesetround(modes[static_cast<int>(rounding)]);
  }
  ~HostFloating() { std::fesetround(FE_TONEAREST); }

  /// Of operations on float and double.
  uint32_t flags() const { return _mm_getcsr() & 0x3f; }
  /// Of operations on long double.
  uint32_t x87_flags() const {
    uint16_t status;
    asm volatile("fnstsw %0" : "=a"(status));
    return status & 0x3f;
  }
};

/// Keeps the compiler from computing at its own time, in its own rounding mode.
template <typename T>
T opaque(T value) {
  asm volatile("" : "+m"(value));
  return value;
}

}  // namespace respike::test
