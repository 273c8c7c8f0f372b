#pragma once
// Inside of the floating-point library: operands taken apart, exact results, rounding once.
//
// An exact result is a sign, an exponent and 128 bits of significand, of which the last one also
// says whether anything nonzero follows (it is "sticky"). Rounding needs at most 64 bits, the one
// after them, and whether there are more, so 128 bits are plenty as long as what was lost lies
// below bit 62. Everything is inline: fma spends about a third of its time in round().

#include "simulator/ia64/floating_arithmetic.h"

namespace respike::simulator::ia64 {

using Uint128 = unsigned __int128;

// --- what results are rounded to
// --------------------------------------------------------------------

/// One line of SDM 1, table 5-6.
struct Format {
  int32_t emin, emax;       // exponents of normal numbers, unbiased
  uint8_t dropped;          // significand bits that are always zero: 40, 11 or 0
  uint32_t denormal_field;  // exponent field of denormals (SDM 1, table 5-2)
};

inline constexpr int32_t kBias = kExponentBias;

/// `exponent_bits` is 8, 11, 15 or 17.
constexpr Format make_format(int significand_bits, int exponent_bits) {
  const int32_t emax = (1 << (exponent_bits - 1)) - 1;
  const uint32_t field = exponent_bits == 15 ? 0 : static_cast<uint32_t>(1 - emax + kBias);
  return {1 - emax, emax, static_cast<uint8_t>(64 - significand_bits), field};
}

/// By completer, then by pc:wre as they lie in a status field.
inline constexpr Format kFormats[3][8] = {
    {make_format(24, 8), make_format(24, 17), make_format(24, 8), make_format(24, 17),
     make_format(24, 8), make_format(24, 17), make_format(24, 8), make_format(24, 17)},
    {make_format(53, 11), make_format(53, 17), make_format(53, 11), make_format(53, 17),
     make_format(53, 11), make_format(53, 17), make_format(53, 11), make_format(53, 17)},
    {make_format(24, 15), make_format(24, 17), make_format(64, 15), make_format(64, 17),
     make_format(53, 15), make_format(53, 17), make_format(64, 15), make_format(64, 17)},
};
inline constexpr Format kSingleFormat = make_format(24, 8);

struct Control {
  const Format* format;
  Rounding rounding;
  bool flush_to_zero;
  uint32_t enabled;  // exceptions

  Control(const Format& f, uint64_t fpsr, unsigned sf)
      : format(&f), enabled(enabled_exceptions(fpsr, sf)) {
    const StatusField field = status_field(fpsr, sf);
    rounding = field.rounding();
    flush_to_zero = field.flush_to_zero();
  }
  Control(Precision precision, uint64_t fpsr, unsigned sf)
      : Control(kFormats[static_cast<int>(precision)][status_field(fpsr, sf).bits >> 1 & 7], fpsr,
                sf) {}
};

/// A result, the exceptions on the way to it, and whether it is greater in magnitude than the exact
/// one.
struct Outcome {
  FloatingRegister value;
  uint32_t flags = 0;
  bool away = false;
};

// --- operands
// ---------------------------------------------------------------------------------------

/// Integer bit set and an exponent field of 1 to 0x1fffe: nothing to normalize, nothing special.
inline bool is_plain(const FloatingRegister& f) {
  return (f.significand >> 63) & (((f.sign_exponent + 1) & kExponentMask) > 1);
}

enum class Kind : uint8_t { zero, finite, infinity, quiet_nan, signaling_nan, unsupported, nat };

/// (-1)^sign * significand * 2^(exponent - 63), with the integer bit set.
struct Operand {
  Kind kind;
  bool sign;
  bool unnormal;
  int32_t exponent;
  uint64_t significand;
};

inline Operand take_apart(const FloatingRegister& f) {
  const uint32_t field = f.exponent();
  if (field == kInfinityExponent) {
    const Kind kind = is_unsupported(f)                  ? Kind::unsupported
                      : f.significand == kIntegerBit     ? Kind::infinity
                      : (f.significand & kQuietBit) != 0 ? Kind::quiet_nan
                                                         : Kind::signaling_nan;
    return {kind, f.sign(), false, 0, f.significand};
  }
  if (is_nat(f)) return {Kind::nat, false, false, 0, 0};
  const bool unnormal = is_unnormal(f);
  if (f.significand == 0) return {Kind::zero, f.sign(), unnormal, 0, 0};
  const int shift = std::countl_zero(f.significand);
  const int32_t exponent = field == 0 ? -16382 : static_cast<int32_t>(field) - kBias;
  return {Kind::finite, f.sign(), unnormal, exponent - shift, f.significand << shift};
}

inline bool is_nan(const Operand& o) {
  return o.kind == Kind::quiet_nan || o.kind == Kind::signaling_nan;
}
inline FloatingRegister quieted(const Operand& o) {
  return FloatingRegister::of(o.sign, kInfinityExponent, o.significand | kQuietBit);
}
inline FloatingRegister signed_zero(bool sign) {
  return FloatingRegister::of(sign, 0, 0);
}
inline FloatingRegister signed_infinity(bool sign) {
  return FloatingRegister::of(sign, kInfinityExponent, kIntegerBit);
}

// --- rounding
// ---------------------------------------------------------------------------------------

/// (-1)^sign * (high:low) * 2^(exponent - 127), integer bit set, last bit sticky.
struct Exact {
  bool sign;
  int32_t exponent;
  uint64_t high, low;
};

/// Whether a number whose kept part is `kept` and whose dropped part is `rest` / 2^64 of a unit
/// grows.
inline bool rounds_up(Rounding rounding, bool sign, uint64_t kept, uint64_t rest) {
  if (rounding == Rounding::nearest) [[likely]]
    return (rest >> 63) & ((rest << 1 != 0) | (kept & 1));
  return rest != 0 && rounding == (sign ? Rounding::down : Rounding::up);
}

/// The kept bits at the top of `significand`, 0 if rounding carried out of it.
struct Rounded {
  uint64_t significand;
  bool inexact;
  bool away;
};

inline Rounded round_at(uint64_t high, uint64_t low, unsigned dropped, Rounding rounding,
                        bool sign) {
  const uint64_t kept = high >> dropped;
  const uint64_t rest =
      (high << 1 << (63 - dropped)) | (low >> dropped) | ((low << 1 << (63 - dropped)) != 0);
  const bool up = rounds_up(rounding, sign, kept, rest);
  return {(kept + up) << dropped, rest != 0, up};
}

/// Overflow, underflow, and results that become one of them; in floating_arithmetic.cc.
Outcome round_out_of_range(const Exact& x, const Control& control, const Rounded& rounded,
                           int32_t exponent);

inline Outcome round(const Exact& x, const Control& control) {
  const Format& format = *control.format;
  const Rounded r = round_at(x.high, x.low, format.dropped, control.rounding, x.sign);
  const bool carried = r.significand == 0;
  const int32_t exponent = x.exponent + carried;
  if (exponent < format.emin || exponent > format.emax) [[unlikely]]
    return round_out_of_range(x, control, r, exponent);
  return {FloatingRegister::of(x.sign, static_cast<uint32_t>(exponent + kBias),
                               r.significand | static_cast<uint64_t>(carried) << 63),
          r.inexact ? kInexact : 0u, r.away};
}

// --- exact results
// ----------------------------------------------------------------------------------

inline Exact exact_product(bool sign, int32_t exponent, uint64_t a, uint64_t b) {
  Uint128 p = static_cast<Uint128>(a) * b;
  const unsigned top = static_cast<uint64_t>(p >> 127);
  p <<= 1 - top;
  return {sign, exponent + static_cast<int32_t>(top), static_cast<uint64_t>(p >> 64),
          static_cast<uint64_t>(p)};
}

/// p + c, where c has a significand of 64 bits. The sum is formed in 192 bits, in which nothing is
/// lost as long as more than one leading bit can cancel. False: the sum is exactly zero.
inline bool exact_sum(const Exact& p, bool sign, int32_t exponent, uint64_t significand,
                      Exact& sum) {
  Uint128 big, small;
  uint64_t big_low = 0, small_low;
  bool big_sign = p.sign;
  int32_t d = exponent - p.exponent;
  int32_t big_exponent;
  const Uint128 product = static_cast<Uint128>(p.high) << 64 | p.low;
  const Uint128 addend = static_cast<Uint128>(significand) << 64;
  if (d > 0 || (d == 0 && addend > product)) {
    big = addend;
    big_sign = sign;
    big_exponent = exponent;
    small = product;
  } else {
    big = product;
    big_exponent = p.exponent;
    small = addend;
    d = -d;
  }
  if (d < 64) [[likely]] {
    small_low = static_cast<uint64_t>(small) << 1 << (63 - d);
    small >>= d;
  } else if (d < 128) {
    // At 64 and above the shifted-out limb is small's low half, moved, with what is lost below made
    // sticky.
    const uint64_t low = static_cast<uint64_t>(small);
    const uint64_t high = static_cast<uint64_t>(small >> 64);
    const int e = d - 64;
    small_low = (high << 1 << (63 - e)) | (low >> e) | ((low << 1 << (63 - e)) != 0);
    small = high >> e;
  } else {
    small = 0;
    small_low = 1;
  }
  if (p.sign == sign) {
    const Uint128 total = big + small;
    uint64_t high = static_cast<uint64_t>(total >> 64), low = static_cast<uint64_t>(total);
    if (total < big) {
      low = (low >> 1) | (high << 63) | (low & 1);
      high = high >> 1 | kIntegerBit;
      ++big_exponent;
    }
    sum = {big_sign, big_exponent, high, low | (small_low != 0)};
    return true;
  }
  const Uint128 total = big - small - (small_low != 0);
  const uint64_t total_low = big_low - small_low;
  uint64_t high = static_cast<uint64_t>(total >> 64), low = static_cast<uint64_t>(total);
  uint64_t lowest = total_low;
  if (high == 0) {
    if (low == 0 && lowest == 0) return false;
    high = low;
    low = lowest;
    lowest = 0;
    big_exponent -= 64;
    if (high == 0) {
      high = low;
      low = 0;
      big_exponent -= 64;
    }
  }
  const int shift = std::countl_zero(high);
  high = high << shift | (low >> 1 >> (63 - shift));
  low = low << shift | (lowest >> 1 >> (63 - shift));
  sum = {big_sign, big_exponent - shift, high, low | ((lowest << shift) != 0)};
  return true;
}

// --- operations on register contents, for scalar and parallel instructions
// --------------------------

/// f3 * f4 + f2 with the signs of product and addend changed on demand; a NaN keeps its own.
Outcome multiply_add(const FloatingRegister& f3, const FloatingRegister& f4,
                     const FloatingRegister& f2, bool negate_product, bool negate_addend,
                     const Control& control);
Outcome multiply(const FloatingRegister& f3, const FloatingRegister& f4, bool negate,
                 const Control& control);

struct Comparison {
  bool holds;
  uint32_t flags;
};
Comparison compare(FloatingRelation relation, const FloatingRegister& a, const FloatingRegister& b);

/// What NaTVal, unsupported encodings and NaNs among the operands decide: true, and `outcome` is
/// final. Otherwise its flags say whether an operand is unnormal. The first NaN of the list is the
/// result.
bool screened(const Operand* const* by_priority, int count, Outcome& outcome);

inline constexpr Outcome kInvalidResult = {kIndefinite, kInvalid, false};

enum class Extremum : uint8_t { min, max, amin, amax };
Outcome select(Extremum which, const FloatingRegister& f2, const FloatingRegister& f3);

struct Converted {
  uint64_t value;
  uint32_t flags;
  bool away;
};
/// To an integer of 32 or 64 bits, which are the low bits of the value.
Converted to_integer(const FloatingRegister& f, bool is_unsigned, Rounding rounding, unsigned bits);

// --- endings
// ----------------------------------------------------------------------------------------

/// Where exceptions stand in ISR.code: for scalars and left lanes, and for right lanes.
constexpr uint32_t fault_code(uint32_t flags, uint32_t enabled) {
  return flags & enabled & 7;
}
constexpr uint32_t trap_code(uint32_t flags, bool away, uint32_t enabled) {
  const uint32_t taken = flags & enabled & ~7u;
  if (taken == 0) return 0;
  return ((taken | (flags & kInexact)) >> 3 << 11) | (away ? 1u << 14 : 0);
}

/// The end of every scalar instruction.
inline FloatingInterruption finish(FloatingRegister& result, const Outcome& outcome, unsigned sf,
                                   uint64_t& fpsr, uint32_t enabled) {
  if (outcome.flags & enabled & 7) [[unlikely]]
    return fault_code(outcome.flags, enabled);
  result = outcome.value;
  raise_flags(fpsr, sf, outcome.flags);
  if (outcome.flags & enabled) [[unlikely]]
    return kFloatingTrap | trap_code(outcome.flags, outcome.away, enabled);
  return 0;
}

}  // namespace respike::simulator::ia64
