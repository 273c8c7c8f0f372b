#pragma once
// Internal to the floating-point library: multiply-add by the host's own instruction, where that is
// exact.
//
// The host rounds to single and double precision as IA-64 does, but cannot report flags cheaply.
// Flags are sticky, however: once a program has seen an inexact result, as any program that
// computes soon does, another inexact result changes no flag. So the host's result is enough if
// operands and result are normal numbers of the format, rounding is to nearest, and the inexact
// flag is set.
//
// A result with the smallest normal exponent may have been tiny before the host rounded it, and a
// zero may be an underflow: such results are computed with integers.

#include <bit>
#include <optional>

#include "emulators/ia64/floating_core.h"

namespace respike::emulator::ia64 {

/// False if the host has no multiply-add instruction.
inline const bool kHostMultipliesAndAdds = __builtin_cpu_supports("fma");

/// True for rounding to nearest with the inexact flag set and not trapping. The widest range
/// changes nothing for results that are normal numbers of the narrow range.
inline bool host_suffices(uint64_t fpsr, unsigned sf) {
  const uint64_t field = fpsr >> status_shift(sf);
  return (field & 0x1030) == 0x1000 && (fpsr & kInexact) && kHostMultipliesAndAdds;
}

/// The bits of the host's numbers in single and double precision.
template <typename Number>
struct HostFormat;
template <>
struct HostFormat<float> {
  using Bits = uint32_t;
  static constexpr int kDropped = 40, kFraction = 23;
  static constexpr uint32_t kField = 0xff80, kInfinite = 0xff;
};
template <>
struct HostFormat<double> {
  using Bits = uint64_t;
  static constexpr int kDropped = 11, kFraction = 52;
  static constexpr uint32_t kField = 0xfc00, kInfinite = 0x7ff;
};

/// 1 if the register holds a normal number of the host's format, else 0.
template <typename Number>
uint64_t fits(const FloatingRegister& f) {
  using Host = HostFormat<Number>;
  return (f.significand >> 63) & (f.significand << (64 - Host::kDropped) == 0) &
         (f.exponent() - Host::kField - 1 < Host::kInfinite - 1);
}

/// The host's number in a register for which fits() holds.
template <typename Number>
Number to_host(const FloatingRegister& f, bool negate) {
  using Host = HostFormat<Number>;
  using Bits = typename Host::Bits;
  const Bits sign = static_cast<Bits>(f.sign() ^ negate) << (8 * sizeof(Bits) - 1);
  return std::bit_cast<Number>(
      static_cast<Bits>(sign | static_cast<Bits>(f.exponent() - Host::kField) << Host::kFraction |
                        static_cast<Bits>(f.significand << 1 >> (Host::kDropped + 1))));
}

template <typename Number>
bool from_host(Number x, FloatingRegister& result) {
  using Host = HostFormat<Number>;
  const auto bits = std::bit_cast<typename Host::Bits>(x);
  const uint32_t exponent = static_cast<uint32_t>(bits >> Host::kFraction) & Host::kInfinite;
  if (exponent - 2 >= Host::kInfinite - 2) return false;
  const uint64_t fraction = static_cast<uint64_t>(bits) << (64 - Host::kFraction) >> 1;
  result = FloatingRegister::of(bits >> (8 * sizeof bits - 1), exponent + Host::kField,
                                fraction | kIntegerBit);
  return true;
}

/// Returns false, without effect, if the result has to be computed with integers.
template <typename Number>
[[gnu::target("fma")]] bool multiply_add_on_host(FloatingRegister& result,
                                                 const FloatingRegister& f3,
                                                 const FloatingRegister& f4,
                                                 const FloatingRegister& f2, bool negate_product,
                                                 bool negate_addend) {
  if (!(fits<Number>(f3) & fits<Number>(f4) & fits<Number>(f2))) return false;
  const Number a = to_host<Number>(f3, negate_product), b = to_host<Number>(f4, false),
               c = to_host<Number>(f2, negate_addend);
  if constexpr (sizeof(Number) == 4)
    return from_host(__builtin_fmaf(a, b, c), result);
  else
    return from_host(__builtin_fma(a, b, c), result);
}

}  // namespace respike::emulator::ia64
