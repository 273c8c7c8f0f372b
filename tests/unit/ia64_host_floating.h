#pragma once
// The host's floating-point arithmetic with a chosen rounding mode, and the exceptions that it
// reports.
//
// The flags in MXCSR have the order of IA-64's flags (V D Z O U I), and the host also detects
// tininess after rounding, so flags of host and guest can be compared bit by bit.

#include <immintrin.h>

#include <cfenv>
#include <cstdint>

#include "emulators/ia64/floating_status.h"

namespace respike::test {

/// Sets the rounding mode while the object lives; flags() gives the flags that were raised since.
class HostFloating {
 public:
  explicit HostFloating(emulator::ia64::Rounding rounding) {
    constexpr int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    std::feclearexcept(FE_ALL_EXCEPT | 2);  // 2: denormal operand
    std::fesetround(modes[static_cast<int>(rounding)]);
  }
  ~HostFloating() { std::fesetround(FE_TONEAREST); }

  /// Flags of operations on float and double.
  uint32_t flags() const { return _mm_getcsr() & 0x3f; }
  /// Flags of operations on long double.
  uint32_t x87_flags() const {
    uint16_t status;
    asm volatile("fnstsw %0" : "=a"(status));
    return status & 0x3f;
  }
};

/// Keeps the compiler from computing at compile time, in another rounding mode.
template <typename T>
T opaque(T value) {
  asm volatile("" : "+m"(value));
  return value;
}

}  // namespace respike::test
