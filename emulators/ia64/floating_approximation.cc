// frcpa and frsqrta: the starting values of division and square root.
//
// The approximations have 11 significant bits. The first eight bits of the operand choose an entry
// of a table: 8 fraction bits for the reciprocal, 7 fraction bits and the parity of the exponent
// for the root. Software refines approximations by Newton's steps, and its results are right for
// exactly these starting values, so the tables have to be those of the manual (SDM 3, frcpa and
// frsqrta: RECIP_TABLE, RECIP_SQRT_TABLE). The entries follow a rule, by which they are computed
// here: an entry is the function at the middle of its interval, rounded to the nearest. All 512
// entries agree with the published ones.
//
// Example: for x = 1.0, entry 0 is 2 / (1 + 0.5 / 256) - 1 in units of 2^-10, rounded: 1020. So the
// reciprocal starts as 2044 / 2048, about 0.998.
//
// Special operands have their IEEE quotient or root as result, with predicate 0. So have operands
// whose exponents would take the steps of refinement out of the register format: there the
// processor asks the operating system for help (SWA fault), which delivers the quotient or root
// itself (Intel, Itanium Processor Floating-point Software Assistance, 245415-001, section 5.1; the
// limits are those of Cornea, Harrison and Tang, Scientific Computing on Itanium-based Systems,
// chapter 7). These are, with e_a and e_b the exponents of dividend a and divisor b, for a format
// of N bits and exponents from emin to emax:
//
//   e_b <= emin - 2,  e_b >= emax - 2,  e_a - e_b >= emax,  e_a - e_b <= emin + 1,
//   e_a <= emin + N - 1
//
// For roots only the last condition applies. Programs meet these conditions only with exponents of
// 17 bits. Lanes get no assistance: beyond these limits, predicate 0 makes software divide one lane
// at a time.

#include "emulators/ia64/floating_approximation.h"

#include <array>

namespace respike::emulator::ia64 {

namespace {

using Table = std::array<uint16_t, 256>;

/// Entry i: 2 / x - 1 in units of 2^-10, x = 1 + (i + 1/2) / 256.
constexpr Table make_reciprocals() {
  Table table{};
  for (uint32_t i = 0; i < 256; ++i) {
    const uint32_t x = 513 + 2 * i;  // times 512
    table[i] = static_cast<uint16_t>(((2u << 20) + x) / (2 * x) - 1024);
  }
  return table;
}

/// Entry i: 2 / sqrt(x) - 1 in units of 2^-10, x = 1 + (i mod 128 + 1/2) / 128 for the upper half
/// of the table and twice that for the lower one.
constexpr Table make_roots() {
  Table table{};
  for (uint32_t i = 0; i < 256; ++i) {
    const uint64_t x = (257 + 2 * (i % 128)) * (i < 128 ? 2 : 1);  // times 256
    uint64_t k = 1024;                                             // the entry plus 1024
    while ((2 * k + 1) * (2 * k + 1) * x <= uint64_t{1} << 32) ++k;
    table[i] = static_cast<uint16_t>(k - 1024);
  }
  return table;
}

constexpr Table kReciprocals = make_reciprocals();
constexpr Table kRoots = make_roots();

FloatingRegister look_up(const Table& table, uint64_t index, bool sign, int32_t exponent) {
  return FloatingRegister::of(sign, static_cast<uint32_t>(exponent + kBias) & kExponentMask,
                              kIntegerBit | static_cast<uint64_t>(table[index]) << 53);
}

FloatingRegister approximate_reciprocal(const Operand& b) {
  return look_up(kReciprocals, b.significand >> 55 & 0xff, b.sign, -1 - b.exponent);
}

FloatingRegister approximate_root(const Operand& a) {
  const uint64_t even = ~static_cast<uint64_t>(a.exponent) & 1;
  return look_up(kRoots, even << 7 | (a.significand >> 56 & 0x7f), false, -1 - (a.exponent >> 1));
}

struct Limits {
  int32_t emin, emax, bits;

  bool dividend_or_quotient(const Operand& a, const Operand& b) const {
    return a.exponent - b.exponent >= emax || a.exponent - b.exponent <= emin + 1 || small(a);
  }
  bool small(const Operand& a) const { return a.exponent <= emin + bits - 1; }
};

constexpr Limits kRegisterLimits = {-65534, 65535, 64};
constexpr Limits kLaneLimits = {-126, 127, 24};

Exact exact_quotient(const Operand& a, const Operand& b) {
  const bool below = a.significand < b.significand;
  const Uint128 dividend = static_cast<Uint128>(a.significand) << (below ? 64 : 63);
  const uint64_t high = static_cast<uint64_t>(dividend / b.significand);
  const Uint128 rest = dividend % b.significand << 64;
  const uint64_t low = static_cast<uint64_t>(rest / b.significand);
  return {static_cast<bool>(a.sign ^ b.sign), a.exponent - b.exponent - below, high,
          low | (rest % b.significand != 0)};
}

/// Computes 66 bits of the root of a number in [1, 4), bit by bit, and whether a remainder is left.
Exact exact_root(const Operand& a) {
  const bool odd = a.exponent & 1;
  Uint128 radicand = static_cast<Uint128>(a.significand)
                     << (odd ? 64 : 63);  // two bits before point
  Uint128 root = 0, remainder = 0;
  for (int i = 0; i < 66; ++i) {
    remainder = remainder << 2 | radicand >> 126;
    radicand <<= 2;
    const Uint128 trial = root << 2 | 1;
    root <<= 1;
    if (remainder >= trial) {
      remainder -= trial;
      root |= 1;
    }
  }
  return {false, (a.exponent - odd) / 2, static_cast<uint64_t>(root >> 2),
          static_cast<uint64_t>(root) << 62 | (remainder != 0)};
}

/// Handles special operands of a division; true if `outcome` is final.
bool division_screened(const Operand& a, const Operand& b, Outcome& outcome) {
  const Operand* const by_priority[] = {&a, &b};
  if (screened(by_priority, 2, outcome)) return true;
  const bool sign = a.sign ^ b.sign;
  if ((a.kind == Kind::infinity && b.kind == Kind::infinity) ||
      (a.kind == Kind::zero && b.kind == Kind::zero)) {
    outcome = kInvalidResult;
  } else if (a.kind == Kind::infinity) {
    outcome.value = signed_infinity(sign);
  } else if (b.kind == Kind::zero) {
    outcome.value = signed_infinity(sign);
    outcome.flags |= kZeroDivide;
  } else if (a.kind == Kind::zero || b.kind == Kind::infinity) {
    outcome.value = signed_zero(sign);
  } else {
    return false;
  }
  return true;
}

bool root_screened(const Operand& a, Outcome& outcome) {
  const Operand* const by_priority[] = {&a};
  if (screened(by_priority, 1, outcome)) return true;
  if (a.kind == Kind::zero) {
    outcome.value = signed_zero(a.sign);
  } else if (a.sign) {
    outcome = kInvalidResult;
  } else if (a.kind == Kind::infinity) {
    outcome.value = signed_infinity(false);
  } else {
    return false;
  }
  return true;
}

/// 1 for a plain number whose exponent is far from all limits, for any other operand; else 0.
uint64_t is_everyday(const FloatingRegister& f) {
  return is_plain(f) & (f.exponent() - 0x9000 < 0xe000);
}

Approximation refined(FloatingRegister value, uint32_t flags, bool refine) {
  return {{value, flags, false}, refine};
}

Approximation computed(Outcome outcome, uint32_t flags) {
  outcome.flags |= flags;
  return {outcome, false};
}

}  // namespace

Approximation reciprocal(const FloatingRegister& f2, const FloatingRegister& f3,
                         const Control& control) {
  if (is_everyday(f2) & is_everyday(f3)) [[likely]]
    return refined(approximate_reciprocal(take_apart(f3)), 0, true);
  const Operand a = take_apart(f2), b = take_apart(f3);
  Outcome outcome;
  if (division_screened(a, b, outcome)) return {outcome, false};
  const bool help = b.exponent <= kRegisterLimits.emin - 2 ||
                    b.exponent >= kRegisterLimits.emax - 2 ||
                    kRegisterLimits.dividend_or_quotient(a, b);
  if (help) return computed(round(exact_quotient(a, b), control), outcome.flags);
  return refined(approximate_reciprocal(b), outcome.flags, true);
}

Approximation reciprocal_root(const FloatingRegister& f3, const Control& control) {
  const Operand a = take_apart(f3);
  Outcome outcome;
  if (root_screened(a, outcome)) return {outcome, false};
  if (kRegisterLimits.small(a)) return computed(round(exact_root(a), control), outcome.flags);
  return refined(approximate_root(a), outcome.flags, true);
}

Approximation lane_reciprocal(const FloatingRegister& f2, const FloatingRegister& f3) {
  const Operand a = take_apart(f2), b = take_apart(f3);
  Outcome outcome;
  if (division_screened(a, b, outcome)) return {outcome, false};
  if (b.exponent <= kLaneLimits.emin - 1)
    return refined(signed_infinity(b.sign), outcome.flags, false);
  if (b.exponent >= kLaneLimits.emax - 2) return refined(signed_zero(b.sign), outcome.flags, false);
  return refined(approximate_reciprocal(b), outcome.flags, !kLaneLimits.dividend_or_quotient(a, b));
}

Approximation lane_reciprocal_root(const FloatingRegister& f3) {
  const Operand a = take_apart(f3);
  Outcome outcome;
  if (root_screened(a, outcome)) return {outcome, false};
  return refined(approximate_root(a), outcome.flags, !kLaneLimits.small(a));
}

FloatingInterruption frcpa(FloatingRegister& result, bool& refine, unsigned sf,
                           const FloatingRegister& f2, const FloatingRegister& f3, uint64_t& fpsr) {
  const Control control(Precision::dynamic, fpsr, sf);
  const Approximation a = reciprocal(f2, f3, control);
  const FloatingInterruption interruption = finish(result, a.outcome, sf, fpsr, control.enabled);
  if (interruption == 0 || interruption & kFloatingTrap) refine = a.refine;
  return interruption;
}

FloatingInterruption frsqrta(FloatingRegister& result, bool& refine, unsigned sf,
                             const FloatingRegister& f3, uint64_t& fpsr) {
  const Control control(Precision::dynamic, fpsr, sf);
  const Approximation a = reciprocal_root(f3, control);
  const FloatingInterruption interruption = finish(result, a.outcome, sf, fpsr, control.enabled);
  if (interruption == 0 || interruption & kFloatingTrap) refine = a.refine;
  return interruption;
}

}  // namespace respike::emulator::ia64
