#pragma once
// Internal to the floating-point library: decomposed operands, exact results, a single rounding.
//
// An exact result is a sign, an exponent and 128 bits of significand. The last bit of the
// significand is "sticky": it also says whether anything nonzero follows. Rounding needs at most 64
// bits, the bit after them, and whether nonzero bits follow; so 128 bits are enough as long as lost
// bits are below bit 62. Everything is inline: fma spends about a third of its time in round().

#include "emulators/ia64/floating_arithmetic.h"

namespace respike::emulator::ia64 {

using Uint128 = unsigned __int128;

// --- formats of results ---------------------------------------------------------------------

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

/// By completer, then by pc:wre as a status field has them.
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

/// A result, the exceptions it raised, and whether it is greater in magnitude than the exact
/// result.
struct Outcome {
  FloatingRegister value;
  uint32_t flags = 0;
  bool away = false;
};

// --- operands -------------------------------------------------------------------------------

/// 1 for a register with integer bit set and an exponent field of 1 to 0x1fffe: nothing to
/// normalize, nothing special. Else 0. A number instead of a bool, so that `&` combines several
/// without branches.
inline uint64_t is_plain(const FloatingRegister& f) {
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

// --- rounding -------------------------------------------------------------------------------

/// (-1)^sign * (high:low) * 2^(exponent - 127), integer bit set, last bit sticky.
struct Exact {
  bool sign;
  int32_t exponent;
  uint64_t high, low;
};

/// Whether rounding increments a number whose kept part is `kept` and whose dropped part is `rest`
/// / 2^64 of a unit.
inline bool rounds_up(Rounding rounding, bool sign, uint64_t kept, uint64_t rest) {
  if (rounding == Rounding::nearest) [[likely]]
    return (rest >> 63) & ((rest << 1 != 0) | (kept & 1));
  return rest != 0 && rounding == (sign ? Rounding::down : Rounding::up);
}

/// The kept bits at the top of `significand`; 0 if rounding carried out of the top.
struct Rounded {
  uint64_t significand;
  bool inexact;
  bool away;
};

inline Rounded round_at(uint64_t high, uint64_t low, unsigned dropped, Rounding rounding,
                        bool sign) {
  const uint64_t kept = high >> dropped;
  const uint64_t rest = dropped ? high << (64 - dropped) | (low != 0) : low;
  const bool up = rounds_up(rounding, sign, kept, rest);
  return {(kept + up) << dropped, rest != 0, up};
}

/// Rounds results that overflow or underflow, or may do so; in floating_arithmetic.cc.
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

// --- exact results --------------------------------------------------------------------------

inline Exact exact_product(bool sign, int32_t exponent, uint64_t a, uint64_t b) {
  Uint128 p = static_cast<Uint128>(a) * b;
  const unsigned top = static_cast<uint64_t>(p >> 127);
  p <<= 1 - top;
  return {sign, exponent + static_cast<int32_t>(top), static_cast<uint64_t>(p >> 64),
          static_cast<uint64_t>(p)};
}

/// 192 bits, on which the sum is formed.
struct Limbs {
  uint64_t high, middle, low;

  /// Bits that `high` and `middle` lose stay as long as `low` has room; of bits that `low` loses
  /// the last bit of `low` is the sticky one.
  Limbs shifted_right(int32_t n) const {
    const auto funnel = [](uint64_t left, uint64_t right, int32_t by) {
      return left << 1 << (63 - by) | right >> by;
    };
    if (n < 64) [[likely]]
      return {high >> n, funnel(high, middle, n), funnel(middle, low, n)};
    if (n < 128) {
      const bool lost = middle << 1 << (127 - n) | low;
      return {0, high >> (n - 64), funnel(high, middle, n - 64) | lost};
    }
    return {0, 0, 1};
  }
  /// this + other, or this - other if `subtract` is all ones.
  Limbs plus(const Limbs& other, uint64_t subtract) const {
    const Uint128 addend =
        static_cast<Uint128>(other.middle ^ subtract) << 64 | (other.low ^ subtract);
    const Uint128 partial = (static_cast<Uint128>(middle) << 64 | low) + (subtract & 1);
    const Uint128 lower = partial + addend;  // `partial` does not overflow: low is even
    return {high + (other.high ^ subtract) + (lower < partial), static_cast<uint64_t>(lower >> 64),
            static_cast<uint64_t>(lower)};
  }
};

/// a if mask is all ones, b if mask is zero, without a branch.
inline uint64_t pick(uint64_t mask, uint64_t a, uint64_t b) {
  return b ^ ((a ^ b) & mask);
}

/// Computes a * b + c. Exponents are those of the product's bit 126 and of c's bit 63. False if the
/// sum is exactly zero.
///
/// Product and c are placed with two bits to spare at the top: c has its integer bit at 189, the
/// product at 189 or 190. The operand with the smaller exponent moves right. The product has 63
/// free bits below it, so nothing is lost while more than two leading bits can cancel. Signs and
/// lengths of operands are unpredictable, so only rare cases branch.
[[gnu::always_inline]] inline bool exact_sum(bool product_sign, int32_t product_exponent,
                                             uint64_t a, uint64_t b, bool addend_sign,
                                             int32_t addend_exponent, uint64_t c, Exact& sum) {
  const Uint128 p = static_cast<Uint128>(a) * b;
  const Limbs product = {static_cast<uint64_t>(p >> 65), static_cast<uint64_t>(p >> 1),
                         static_cast<uint64_t>(p) << 63};
  const Limbs addend = {c >> 2, c << 62, 0};
  const int32_t distance = addend_exponent - product_exponent;
  const int32_t trails = distance >> 31;  // all ones if the product has the greater exponent
  const uint64_t mask = static_cast<uint64_t>(static_cast<int64_t>(trails));
  const Limbs leading = {pick(mask, product.high, addend.high),
                         pick(mask, product.middle, addend.middle), product.low & mask};
  const Limbs moved = {pick(mask, addend.high, product.high),
                       pick(mask, addend.middle, product.middle), product.low & ~mask};
  const uint64_t subtract = 0 - static_cast<uint64_t>(product_sign ^ addend_sign);
  Limbs total = leading.plus(moved.shifted_right((distance ^ trails) - trails), subtract);
  bool sign = (product_sign & trails) | (addend_sign & ~trails);
  if (total.high & subtract & kIntegerBit) [[unlikely]] {  // exponents equal, or nearly
    total = Limbs{0, 0, 0}.plus(total, ~uint64_t{0});
    sign = !sign;
  }
  int32_t exponent = addend_exponent - (distance & trails) + 2;
  while (total.high == 0) [[unlikely]] {
      if ((total.middle | total.low) == 0) return false;
      total = {total.middle, total.low, 0};
      exponent -= 64;
    }
  const int shift = std::countl_zero(total.high);
  sum = {sign, exponent - shift, total.high << shift | (total.middle >> 1 >> (63 - shift)),
         total.middle << shift | (total.low >> 1 >> (63 - shift)) | (total.low << shift != 0)};
  return true;
}

// --- operations on register contents, for scalar and parallel instructions ------------------

/// f3 * f4 + f2 with the signs of product and addend changed on demand; a NaN keeps its sign.
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

/// Handles NaTVal, unsupported encodings and NaNs among the operands. True if `outcome` is final:
/// the first NaN of `by_priority` is the result. If false, the flags of `outcome` say whether an
/// operand is unnormal.
bool screened(const Operand* const* by_priority, int count, Outcome& outcome);

inline constexpr Outcome kInvalidResult = {kIndefinite, kInvalid, false};

enum class Extremum : uint8_t { min, max, amin, amax };
Outcome select(Extremum which, const FloatingRegister& f2, const FloatingRegister& f3);

struct Converted {
  uint64_t value;
  uint32_t flags;
  bool away;
};
/// Converts to an integer of 32 or 64 bits, in the low bits of the result's value.
Converted to_integer(const FloatingRegister& f, bool is_unsigned, Rounding rounding, unsigned bits);

// --- endings --------------------------------------------------------------------------------

/// Positions of exceptions in ISR.code: for scalars and left lanes, and for right lanes.
constexpr uint32_t fault_code(uint32_t flags, uint32_t enabled) {
  return flags & enabled & 7;
}
constexpr uint32_t trap_code(uint32_t flags, bool away, uint32_t enabled) {
  const uint32_t taken = flags & enabled & ~7u;
  if (taken == 0) return 0;
  return ((taken | (flags & kInexact)) >> 3 << 11) | (away ? 1u << 14 : 0);
}

/// Ends every scalar instruction: a fault, or the result with its flags and perhaps a trap.
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

}  // namespace respike::emulator::ia64
