#pragma once
// Operands and an independent oracle for the IA-64 floating-point tests.
//
// Operands are biased to cases where rounding goes wrong: cancellation, ties, both ends of the
// exponent range, exponents that are far apart, significands of few bits, unnormal and special
// encodings. The oracle is MPFR, which shares no code with the emulator: its precision and exponent
// range are set to the values of the format, and mpfr_subnormalize makes denormals.

#include <mpfr.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <random>
#include <string>

#include "emulators/ia64/floating_arithmetic.h"

namespace respike::emulator::ia64 {

inline void PrintTo(const FloatingRegister& f, std::ostream* out) {
  char text[64];
  std::snprintf(text, sizeof text, "%c %05x %016lx", f.sign() ? '-' : '+', f.exponent(),
                static_cast<unsigned long>(f.significand));
  *out << text;
}

}  // namespace respike::emulator::ia64

namespace respike::test {

using namespace respike::emulator::ia64;  // NOLINT: tests only

/// Operands for each operation: few by default, RESPIKE_FLOATING_OPERANDS at night.
inline int operands_per_operation(int by_default = 40000) {
  const char* text = std::getenv("RESPIKE_FLOATING_OPERANDS");
  return text ? std::atoi(text) : by_default;
}

/// A real type of the manual: significand bits and exponent range (SDM 1, table 5-6).
struct RealType {
  int bits;
  int emin, emax;
  uint32_t denormal_field;
};

inline RealType real_type(Precision precision, unsigned pc, bool wre) {
  int bits = 64, exponent_bits = 15;
  if (precision == Precision::single_precision) bits = 24, exponent_bits = 8;
  if (precision == Precision::double_precision) bits = 53, exponent_bits = 11;
  if (precision == Precision::dynamic && pc == 0) bits = 24;
  if (precision == Precision::dynamic && pc == 2) bits = 53;
  if (wre) exponent_bits = 17;
  switch (exponent_bits) {
    case 8:
      return {bits, -126, 127, 0xff81};
    case 11:
      return {bits, -1022, 1023, 0xfc01};
    case 15:
      return {bits, -16382, 16383, 0};
    default:
      return {bits, -65534, 65535, 1};
  }
}

/// A status field's controls, chosen by the test.
struct Controls {
  Precision precision = Precision::dynamic;
  unsigned pc = 3;
  bool wre = false;
  Rounding rounding = Rounding::nearest;
  bool ftz = false;
  unsigned sf = 0;
  uint32_t traps = 0x3f;     // disabled exceptions
  bool was_inexact = false;  // the flag is set before

  uint64_t fpsr() const {
    const uint64_t field = ftz | wre << 1 | pc << 2 | static_cast<unsigned>(rounding) << 4;
    return traps | (field | was_inexact << 12) << (6 + 13 * sf);
  }
  uint32_t flags(uint64_t after) const { return after >> (13 + 13 * sf) & 0x3f; }
  uint32_t flags_before() const { return was_inexact ? kInexact : 0; }
  RealType type() const { return real_type(precision, pc, wre); }
  mpfr_rnd_t mpfr_rounding() const {
    constexpr mpfr_rnd_t modes[] = {MPFR_RNDN, MPFR_RNDD, MPFR_RNDU, MPFR_RNDZ};
    return modes[static_cast<int>(rounding)];
  }
};

inline std::string describe(const Controls& c) {
  return "completer " + std::to_string(static_cast<int>(c.precision)) + " pc " +
         std::to_string(c.pc) + " wre " + std::to_string(c.wre) + " rc " +
         std::to_string(static_cast<int>(c.rounding)) + " ftz " + std::to_string(c.ftz) + " sf " +
         std::to_string(c.sf) + " traps " + std::to_string(c.traps);
}

class Operands {
 public:
  explicit Operands(uint64_t seed) : random_(seed) {}

  uint64_t bits() { return random_(); }
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

  Controls controls() {
    Controls c;
    c.precision = static_cast<Precision>(below(3));
    c.pc = std::array{0u, 2u, 3u}[static_cast<size_t>(below(3))];
    c.wre = below(2);
    c.rounding = static_cast<Rounding>(below(4));
    c.ftz = below(8) == 0;
    c.sf = static_cast<unsigned>(below(4));
    c.was_inexact = below(2);
    if (below(8) == 0) c.traps = static_cast<uint32_t>(below(64));
    return c;
  }

  /// Random bits, runs of ones and zeros, few bits, or as many bits as single and double precision
  /// have.
  uint64_t significand() {
    switch (below(7)) {
      case 0:
        return bits() | kIntegerBit;
      case 1:
        return (bits() & ~uint64_t{0x7ff}) | kIntegerBit;
      case 2:
        return (bits() & (~uint64_t{0} << 40)) | kIntegerBit;
      case 3:
        return kIntegerBit;
      case 4:
        return ~uint64_t{0} << below(64);
      case 5:
        return kIntegerBit | uint64_t{1} << below(63) | uint64_t{1} << below(63);
      default:
        return ~(uint64_t{1} << below(63)) | kIntegerBit;
    }
  }

  FloatingRegister normal(int exponent) {
    const int field = std::min(std::max(exponent + 0xffff, 1), 0x1fffe);
    return FloatingRegister::of(below(2), static_cast<uint32_t>(field), significand());
  }

  /// Any encoding; zeros, infinities, NaNs, unnormals, pseudo-zeros and NaTVal are frequent.
  FloatingRegister special() {
    const bool sign = below(2);
    switch (below(12)) {
      case 0:
        return FloatingRegister::of(sign, 0, 0);
      case 1:
        return FloatingRegister::of(sign, 0x1ffff, kIntegerBit);
      case 2:
        return FloatingRegister::of(sign, 0x1ffff, bits() | kIntegerBit | kQuietBit);
      case 3:
        return FloatingRegister::of(sign, 0x1ffff, ((bits() | kIntegerBit) & ~kQuietBit) | 1);
      case 4:
        return FloatingRegister::of(sign, 0x1ffff, bits() >> 1);  // unsupported
      case 5:
        return kNatVal;
      case 6:
        return FloatingRegister::of(sign, 0, bits() >> below(64));  // denormal, pseudo-denormal
      case 7:
        return FloatingRegister::of(sign, 1 + static_cast<uint32_t>(below(0x1fffd)), 0);
      case 8:
        return FloatingRegister::of(sign, 0xff81, bits() >> 1 >> below(24) & (~uint64_t{0} << 40));
      case 9:
        return FloatingRegister::of(sign, 0xffff + static_cast<uint32_t>(below(64)),
                                    bits() >> below(64));
      case 10:
        return from_integer(bits() >> below(64));
      default:
        return {bits(), bits() & 0x3ffff};
    }
  }

  /// Three operands for a multiply-add whose result is rounded to the type.
  std::array<FloatingRegister, 3> three(const RealType& type) {
    switch (below(9)) {
      case 0:
        return {special(), special(), special()};
      case 1: {
        std::array<FloatingRegister, 3> f = {near_zero(), near_zero(), near_zero()};
        f[static_cast<size_t>(below(3))] = special();
        return f;
      }
      case 2:
        return {near_zero(), near_zero(), near_zero()};
      case 3:
        return {normal(below(200) - 100), normal(below(200) - 100), normal(below(400) - 200)};
      case 4:
        return at_boundary(type.emin);
      case 5:
        return at_boundary(type.emax);
      case 6:
        return cancelling(type);
      case 7:
        return far_tail();
      default:
        return near_tie(type);
    }
  }

 private:
  /// A product whose lower 64 bits are a small number, and a far larger addend: the bits that
  /// decide about rounding may lie more than 128 bits below the result's first bit.
  std::array<FloatingRegister, 3> far_tail() {
    const int distance = below(7);
    const uint64_t tail = 1 + static_cast<uint64_t>(below(1 << distance));
    uint64_t a, b;
    do {
      a = bits() | kIntegerBit | 1;
      uint64_t inverse = a;  // Newton's steps modulo 2^64
      for (int i = 0; i < 6; ++i) inverse *= 2 - a * inverse;
      b = tail * inverse;
    } while (!(b & kIntegerBit));
    const bool carry = static_cast<unsigned __int128>(a) * b >> 127;
    FloatingRegister c = normal(distance + carry);
    if (below(2)) c.significand &= ~uint64_t{0xff};
    return {FloatingRegister::of(below(2), 0xffff, a), FloatingRegister::of(below(2), 0xffff, b),
            c};
  }

  FloatingRegister near_zero() { return normal(below(8) - 4); }

  std::array<FloatingRegister, 3> at_boundary(int boundary) {
    const int half = boundary / 2 + below(200) - 100;
    const int target = boundary + below(140) - 70;
    return {normal(half), normal(target - half), normal(target + below(140) - 70)};
  }

  /// An addend of about minus the product, or some units away from that.
  std::array<FloatingRegister, 3> cancelling(const RealType& type) {
    const FloatingRegister a = near_zero(), b = near_zero();
    const unsigned __int128 product = static_cast<unsigned __int128>(a.significand) * b.significand;
    const bool carry = product >> 127;
    uint64_t high = static_cast<uint64_t>(product >> (carry ? 64 : 63));
    if (below(2)) high &= ~uint64_t{0} << (64 - type.bits);
    high = (high + static_cast<uint64_t>(below(5)) - 2) | kIntegerBit;
    const uint32_t exponent = a.exponent() + b.exponent() - 0xffff + carry;
    const bool sign = (a.sign() ^ b.sign()) != (below(8) != 0);
    return {a, b, FloatingRegister::of(sign, exponent, high)};
  }

  /// A product of type.bits + 1 significant bits ending in 1, and nothing or very little added.
  std::array<FloatingRegister, 3> near_tie(const RealType& type) {
    FloatingRegister a = near_zero(), b = FloatingRegister::of(below(2), 0xffff, kIntegerBit);
    if (type.bits < 64) {
      a.significand &= ~uint64_t{0} << (64 - type.bits);
      a.significand |= uint64_t{1} << (63 - type.bits);
      a.significand &= ~uint64_t{0} << (63 - type.bits);
    } else {
      a.significand |= 1;
      b.significand = 3 * (kIntegerBit >> 1);
    }
    FloatingRegister c = normal(-60 - below(200));
    if (below(3) == 0) c = FloatingRegister::of(below(2), 0, 0);
    return {a, b, c};
  }

  std::mt19937_64 random_;
};

/// A number in MPFR; exact for any finite register and for doubles.
class Number {
 public:
  explicit Number(int bits = 64) { mpfr_init2(value_, bits); }
  explicit Number(const FloatingRegister& f) : Number(64) {
    const int sign = f.sign() ? -1 : 1;
    if (f.exponent() == kInfinityExponent && f.significand == kIntegerBit) {
      mpfr_set_inf(value_, sign);
    } else if (f.exponent() == kInfinityExponent) {
      mpfr_set_nan(value_);
    } else if (f.significand == 0) {
      mpfr_set_zero(value_, sign);
    } else {
      const long exponent = f.exponent() == 0 ? -16382 : static_cast<long>(f.exponent()) - 65535;
      mpfr_set_ui_2exp(value_, f.significand, exponent - 63, MPFR_RNDN);
      if (f.sign()) mpfr_neg(value_, value_, MPFR_RNDN);
    }
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }

  operator mpfr_ptr() { return value_; }           // NOLINT: MPFR's functions take it
  operator mpfr_srcptr() const { return value_; }  // NOLINT

 private:
  mpfr_t value_;
};

struct Expected {
  FloatingRegister value;
  uint32_t flags = 0;
};

/// The register that holds a number of the type: `wrapped` for results of enabled traps.
inline FloatingRegister to_register(mpfr_srcptr x, const RealType& type, bool wrapped = false) {
  const bool sign = mpfr_signbit(x);
  if (mpfr_inf_p(x)) return FloatingRegister::of(sign, kInfinityExponent, kIntegerBit);
  if (mpfr_zero_p(x)) return FloatingRegister::of(sign, 0, 0);
  mpz_t digits;
  mpz_init(digits);
  long exponent = mpfr_get_z_2exp(digits, x);
  mpz_abs(digits, digits);
  const long length = static_cast<long>(mpz_sizeinbase(digits, 2));
  exponent += length - 1;
  uint64_t significand = mpz_get_ui(digits) << (64 - length);
  mpz_clear(digits);
  if (!wrapped && exponent < type.emin)
    return FloatingRegister::of(sign, type.denormal_field, significand >> (type.emin - exponent));
  return FloatingRegister::of(sign, static_cast<uint32_t>(exponent + 65535) & 0x1ffff, significand);
}

/// Rounds the result of `compute`: compute(x, rounding) sets x and returns MPFR's ternary value. It
/// is called with unlimited exponents first, which shows overflow and tininess, then with the
/// exponents of the type.
template <typename Compute>
Expected rounded(const Controls& c, Compute compute) {
  const RealType type = c.type();
  const mpfr_rnd_t rounding = c.mpfr_rounding();
  Number x(type.bits);
  mpfr_clear_flags();
  int ternary = compute(x, rounding);
  if (mpfr_nan_p(x)) return {kIndefinite, kInvalid};
  if (!mpfr_regular_p(x)) return {to_register(x, type), 0};
  const uint32_t inexact = ternary ? kInexact : 0;
  const long exponent = mpfr_get_exp(x) - 1;
  const bool tiny = exponent<type.emin, huge = exponent> type.emax;
  if (!tiny && !huge) return {to_register(x, type), inexact};
  const uint32_t flag = tiny ? kUnderflow : kOverflow;
  if (!(c.traps & flag)) return {to_register(x, type, true), flag | inexact};
  const bool sign = mpfr_signbit(x);
  if (tiny && c.ftz) return {FloatingRegister::of(sign, 0, 0), kUnderflow | kInexact};
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_set_emin(type.emin - type.bits + 2);
  mpfr_set_emax(type.emax + 1);
  ternary = mpfr_check_range(x, ternary, rounding);
  ternary = mpfr_subnormalize(x, ternary, rounding);
  const FloatingRegister value = to_register(x, type);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  if (huge) return {value, kOverflow | kInexact};
  return {value, ternary ? kUnderflow | kInexact : 0};
}

}  // namespace respike::test
