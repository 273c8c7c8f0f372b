// Moves bits in and out of floating-point registers, and handles integers in their significands.
//
// Memory formats. A load changes only the bias of a normal number's exponent. A number that IEEE
// encodes with exponent zero keeps its fraction and gets the format's smallest exponent, so that
// its integer bit is 0 and its value is right. Stores do the reverse without checking the value:
// the exponent field is 0 if the integer bit is 0, else the register's exponent without its middle
// bits (SDM 1, figures 5-4 to 5-7).
//
// Example: ldfs of 0x00000001 (2^-149) gives significand 2^40 and the exponent of 2^-126.
//
// Parallel results always have exponent 0x1003E and sign 0 (SDM 1, section 5.1.2).

#include "emulators/ia64/floating_register.h"

namespace respike::emulator::ia64 {

namespace {

constexpr uint64_t kRightHalf = 0xffffffff;
constexpr uint64_t kLaneSigns = 0x8000000080000000;
constexpr uint64_t kLaneSignsExponents = 0xff800000ff800000;

bool any_nat(const FloatingRegister& a, const FloatingRegister& b) {
  return is_nat(a) || is_nat(b);
}

FloatingRegister halves(uint64_t left, uint64_t right) {
  return from_integer(left << 32 | (right & kRightHalf));
}

uint64_t left(const FloatingRegister& f) {
  return f.significand >> 32;
}
uint64_t right(const FloatingRegister& f) {
  return f.significand & kRightHalf;
}

/// The result of a bitwise or parallel instruction of two operands.
FloatingRegister bits(const FloatingRegister& a, const FloatingRegister& b, uint64_t value) {
  return any_nat(a, b) ? kNatVal : from_integer(value);
}

}  // namespace

// --- memory formats -------------------------------------------------------------------------

FloatingRegister from_single(uint32_t b) {
  const bool sign = b >> 31;
  const uint32_t exponent = b >> 23 & 0xff;
  const uint64_t fraction = static_cast<uint64_t>(b & 0x7fffff) << 40;
  if (exponent == 0) return FloatingRegister::of(sign, fraction ? 0xff81 : 0, fraction);
  return FloatingRegister::of(sign, exponent == 0xff ? kInfinityExponent : exponent + 0xff80,
                              fraction | kIntegerBit);
}

FloatingRegister from_double(uint64_t b) {
  const bool sign = b >> 63;
  const uint32_t exponent = b >> 52 & 0x7ff;
  const uint64_t fraction = b << 12 >> 1;
  if (exponent == 0) return FloatingRegister::of(sign, fraction ? 0xfc01 : 0, fraction);
  return FloatingRegister::of(sign, exponent == 0x7ff ? kInfinityExponent : exponent + 0xfc00,
                              fraction | kIntegerBit);
}

FloatingRegister from_extended(uint64_t low, uint16_t high) {
  const uint32_t exponent = high & 0x7fff;
  const uint32_t field = exponent == 0x7fff ? kInfinityExponent
                         : exponent == 0    ? 0
                                            : exponent + 0xc000;
  return FloatingRegister::of(high >> 15, field, low);
}

uint32_t to_single(const FloatingRegister& f) {
  const uint32_t e = f.exponent();
  const uint32_t exponent = f.significand & kIntegerBit ? (e >> 16) << 7 | (e & 0x7f) : 0;
  return static_cast<uint32_t>(f.sign()) << 31 | exponent << 23 |
         (static_cast<uint32_t>(f.significand >> 40) & 0x7fffff);
}

uint64_t to_double(const FloatingRegister& f) {
  const uint64_t e = f.exponent();
  const uint64_t exponent = f.significand & kIntegerBit ? (e >> 16) << 10 | (e & 0x3ff) : 0;
  return static_cast<uint64_t>(f.sign()) << 63 | exponent << 52 | (f.significand << 1 >> 12);
}

uint16_t to_extended_high(const FloatingRegister& f) {
  const uint32_t e = f.exponent();
  return static_cast<uint16_t>(f.sign() << 15 | (e >> 16) << 14 | (e & 0x3fff));
}

// --- classes --------------------------------------------------------------------------------

bool fclass(const FloatingRegister& f, uint32_t classes) {
  if (is_nat(f)) return classes & kClassNat;
  if (is_unsupported(f)) return false;
  if (is_nan(f)) return classes & (is_signaling_nan(f) ? kClassSignalingNan : kClassQuietNan);
  if (!(classes & (f.sign() ? kClassNegative : kClassPositive))) return false;
  if (is_infinity(f)) return classes & kClassInfinity;
  if (is_zero(f)) return classes & kClassZero;
  return classes & (is_unnormal(f) ? kClassUnnormal : kClassNormal);
}

// --- moving and merging ---------------------------------------------------------------------

FloatingRegister fmerge_s(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : FloatingRegister::of(f2.sign(), f3.exponent(), f3.significand);
}

FloatingRegister fmerge_ns(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal
                         : FloatingRegister::of(!f2.sign(), f3.exponent(), f3.significand);
}

FloatingRegister fmerge_se(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : FloatingRegister{f3.significand, f2.sign_exponent};
}

FloatingRegister fmix_l(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : halves(left(f2), left(f3));
}

FloatingRegister fmix_r(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : halves(right(f2), right(f3));
}

FloatingRegister fmix_lr(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : halves(left(f2), right(f3));
}

FloatingRegister fsxt_l(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : halves(left(f2) >> 31 ? kRightHalf : 0, left(f3));
}

FloatingRegister fsxt_r(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : halves(right(f2) >> 31 ? kRightHalf : 0, right(f3));
}

FloatingRegister fswap(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : halves(right(f3), left(f2));
}

FloatingRegister fswap_nl(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : halves(right(f3) ^ 0x80000000, left(f2));
}

FloatingRegister fswap_nr(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : halves(right(f3), left(f2) ^ 0x80000000);
}

FloatingRegister fpack(const FloatingRegister& f2, const FloatingRegister& f3) {
  return any_nat(f2, f3) ? kNatVal : halves(to_single(f2), to_single(f3));
}

FloatingRegister fand(const FloatingRegister& f2, const FloatingRegister& f3) {
  return bits(f2, f3, f2.significand & f3.significand);
}

FloatingRegister fandcm(const FloatingRegister& f2, const FloatingRegister& f3) {
  return bits(f2, f3, f2.significand & ~f3.significand);
}

FloatingRegister f_or(const FloatingRegister& f2, const FloatingRegister& f3) {
  return bits(f2, f3, f2.significand | f3.significand);
}

FloatingRegister fxor(const FloatingRegister& f2, const FloatingRegister& f3) {
  return bits(f2, f3, f2.significand ^ f3.significand);
}

FloatingRegister fselect(const FloatingRegister& f3, const FloatingRegister& f4,
                         const FloatingRegister& f2) {
  if (is_nat(f2)) return kNatVal;
  return bits(f3, f4, (f3.significand & f2.significand) | (f4.significand & ~f2.significand));
}

FloatingRegister fpmerge_s(const FloatingRegister& f2, const FloatingRegister& f3) {
  return bits(f2, f3, (f2.significand & kLaneSigns) | (f3.significand & ~kLaneSigns));
}

FloatingRegister fpmerge_ns(const FloatingRegister& f2, const FloatingRegister& f3) {
  return bits(f2, f3, (~f2.significand & kLaneSigns) | (f3.significand & ~kLaneSigns));
}

FloatingRegister fpmerge_se(const FloatingRegister& f2, const FloatingRegister& f3) {
  return bits(f2, f3,
              (f2.significand & kLaneSignsExponents) | (f3.significand & ~kLaneSignsExponents));
}

// --- integers in significands ---------------------------------------------------------------

FloatingRegister fcvt_xf(const FloatingRegister& f2) {
  if (is_nat(f2)) return kNatVal;
  if (f2.significand == 0) return kZero;
  const bool sign = f2.significand >> 63;
  const uint64_t magnitude = sign ? 0 - f2.significand : f2.significand;
  const int shift = std::countl_zero(magnitude);
  return FloatingRegister::of(sign, kIntegerExponent - static_cast<uint32_t>(shift),
                              magnitude << shift);
}

FloatingRegister xma_l(const FloatingRegister& f3, const FloatingRegister& f4,
                       const FloatingRegister& f2) {
  if (is_nat(f2)) return kNatVal;
  return bits(f3, f4, f3.significand * f4.significand + f2.significand);
}

FloatingRegister xma_h(const FloatingRegister& f3, const FloatingRegister& f4,
                       const FloatingRegister& f2) {
  if (is_nat(f2)) return kNatVal;
  const auto product = static_cast<__int128>(static_cast<int64_t>(f3.significand)) *
                       static_cast<int64_t>(f4.significand);
  const auto sum = static_cast<unsigned __int128>(product) + f2.significand;
  return bits(f3, f4, static_cast<uint64_t>(sum >> 64));
}

FloatingRegister xma_hu(const FloatingRegister& f3, const FloatingRegister& f4,
                        const FloatingRegister& f2) {
  if (is_nat(f2)) return kNatVal;
  const auto sum = static_cast<unsigned __int128>(f3.significand) * f4.significand + f2.significand;
  return bits(f3, f4, static_cast<uint64_t>(sum >> 64));
}

}  // namespace respike::emulator::ia64
