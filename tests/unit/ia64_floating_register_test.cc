// The 82-bit register: memory formats against the host's numbers, classes against their definition,
// merging and integer instructions against the manual's text; also the instructions of the status
// register.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tests/unit/ia64_floating_testing.h"

namespace respike::test {
namespace {

long double host_value(const FloatingRegister& f) {
  const int exponent = f.exponent() == 0 ? -16382 : static_cast<int>(f.exponent()) - 65535;
  const long double magnitude = std::ldexp(static_cast<long double>(f.significand), exponent - 63);
  return f.sign() ? -magnitude : magnitude;
}

TEST(Ia64FloatingRegister, SinglesAndDoublesKeepValueAndBits) {
  Operands operands(70);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    uint64_t bits = operands.bits();
    if (operands.below(4) == 0) bits &= 0x807fffff800fffff;
    const float s = std::bit_cast<float>(static_cast<uint32_t>(bits >> 32));
    const double d = std::bit_cast<double>(bits);
    const FloatingRegister fs = from_single(std::bit_cast<uint32_t>(s)), fd = from_double(bits);
    EXPECT_EQ(to_single(fs), std::bit_cast<uint32_t>(s));
    EXPECT_EQ(to_double(fd), bits);
    if (std::isfinite(s)) {
      EXPECT_EQ(host_value(fs), static_cast<long double>(s));
    }
    if (std::isfinite(d)) {
      EXPECT_EQ(host_value(fd), static_cast<long double>(d));
    }
    EXPECT_EQ(fclass(fs, kClassSignalingNan | 3), std::isnan(s) && !(bits >> 54 & 1));
    EXPECT_EQ(fclass(fd, kClassQuietNan | 3), std::isnan(d) && (bits >> 51 & 1));
    EXPECT_EQ(fclass(fd, kClassInfinity | 3), std::isinf(d));
    EXPECT_EQ(fclass(fd, kClassNormal | 3), std::isnormal(d));
    EXPECT_EQ(fclass(fd, kClassUnnormal | 3), std::fpclassify(d) == FP_SUBNORMAL);
    EXPECT_EQ(fclass(fd, kClassZero | 3), d == 0);
    EXPECT_EQ(fclass(fd, 0x3c | kClassNegative), !std::isnan(d) && std::signbit(d));
  }
}

TEST(Ia64FloatingRegister, ExtendedKeepsAllBits) {
  Operands operands(71);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    const uint64_t low = operands.bits() >> operands.below(3);
    const auto high =
        static_cast<uint16_t>(operands.bits() & (operands.below(4) ? 0xffff : 0x8000));
    const FloatingRegister f = from_extended(low, high);
    EXPECT_EQ(f.significand, low);
    EXPECT_EQ(to_extended_high(f), high);
    long double value = 0;
    std::memcpy(&value, &low, 8);
    std::memcpy(reinterpret_cast<char*>(&value) + 8, &high, 2);
    const bool valid = (high & 0x7fff) == 0 || low >> 63;
    if (valid && (high & 0x7fff) != 0x7fff) {
      EXPECT_EQ(host_value(f), value);
    }
  }
}

TEST(Ia64FloatingRegister, MemoryFormatsOfSpecialRegisters) {
  EXPECT_EQ(from_single(0x3f800000), kOne);
  EXPECT_EQ(from_double(0), kZero);
  EXPECT_EQ(from_single(1), (FloatingRegister{uint64_t{1} << 40, 0xff81}));
  EXPECT_EQ(from_double(1), (FloatingRegister{uint64_t{1} << 11, 0xfc01}));
  EXPECT_EQ(from_extended(1, 0), (FloatingRegister{1, 0}));
  EXPECT_EQ(from_extended(kIntegerBit, 0x7fff), kInfinity);
  EXPECT_EQ(to_single(kIndefinite), 0xffc00000u);
  EXPECT_EQ(to_double(kInfinity), 0x7ff0000000000000u);
  EXPECT_EQ(from_exponent(0x2ffff), FloatingRegister::of(true, 0xffff, kIntegerBit));
  EXPECT_EQ(from_exponent(~uint64_t{0}).sign_exponent, 0x3ffffu);
  EXPECT_EQ(from_spill(5, ~uint64_t{0}).sign_exponent, 0x3ffffu);
  EXPECT_EQ(to_exponent(FloatingRegister::of(true, 0x1003e, 7)), 0x3003eu);
  EXPECT_EQ(from_spill(kNatVal.significand, kNatVal.sign_exponent), kNatVal);
}

/// The class of each encoding, by SDM 1, table 5-2.
TEST(Ia64FloatingRegister, ClassesOfAllEncodings) {
  const auto classes = [](const FloatingRegister& f) {
    uint32_t found = 0;
    for (uint32_t c : {4u, 8u, 0x10u, 0x20u, 0x40u, 0x80u, 0x100u})
      if (fclass(f, c | kClassPositive | kClassNegative)) found |= c;
    return found;
  };
  EXPECT_EQ(classes(kNatVal), kClassNat);
  EXPECT_EQ(classes({0, 0x3fffe}), kClassUnnormal);  // negative: a pseudo-zero
  EXPECT_EQ(classes({0, 0x1fffd}), kClassUnnormal);
  EXPECT_EQ(classes({0, 0}), kClassZero);
  EXPECT_EQ(classes({0, 0x20000}), kClassZero);
  EXPECT_EQ(classes({1, 0}), kClassUnnormal);
  EXPECT_EQ(classes({kIntegerBit, 0}), kClassUnnormal);  // pseudo-denormal
  EXPECT_EQ(classes({kIntegerBit, 1}), kClassNormal);
  EXPECT_EQ(classes({kIntegerBit, 0x1fffe}), kClassNormal);
  EXPECT_EQ(classes({kIntegerBit - 1, 0x1fffe}), kClassUnnormal);
  EXPECT_EQ(classes({kIntegerBit, 0x1ffff}), kClassInfinity);
  EXPECT_EQ(classes({kIntegerBit + 1, 0x1ffff}), kClassSignalingNan);
  EXPECT_EQ(classes({kIntegerBit | kQuietBit, 0x1ffff}), kClassQuietNan);
  EXPECT_EQ(classes({0, 0x1ffff}), 0u);  // unsupported
  EXPECT_EQ(classes({kIntegerBit - 1, 0x1ffff}), 0u);
  EXPECT_FALSE(fclass(kOne, kClassNormal | kClassNegative));
  EXPECT_TRUE(fclass(kIndefinite, kClassQuietNan));  // signs do not matter for NaNs
}

TEST(Ia64FloatingRegister, Merging) {
  Operands operands(72);
  for (int i = 0; i < operands_per_operation(4000) && !HasFailure(); ++i) {
    const FloatingRegister a = {operands.bits(), operands.bits() & 0x3ffff},
                           b = {operands.bits(), operands.bits() & 0x3ffff},
                           c = {operands.bits(), operands.bits() & 0x3ffff};
    const uint64_t al = a.significand >> 32, ar = a.significand & 0xffffffff;
    const uint64_t bl = b.significand >> 32, br = b.significand & 0xffffffff;
    const auto both = [](uint64_t left, uint64_t right) {
      return FloatingRegister{left << 32 | right, 0x1003e};
    };
    EXPECT_EQ(fmerge_s(a, b), FloatingRegister::of(a.sign(), b.exponent(), b.significand));
    EXPECT_EQ(fmerge_ns(a, b), FloatingRegister::of(!a.sign(), b.exponent(), b.significand));
    EXPECT_EQ(fmerge_se(a, b), FloatingRegister::of(a.sign(), a.exponent(), b.significand));
    EXPECT_EQ(fmix_l(a, b), both(al, bl));
    EXPECT_EQ(fmix_r(a, b), both(ar, br));
    EXPECT_EQ(fmix_lr(a, b), both(al, br));
    EXPECT_EQ(fsxt_l(a, b), both(al >> 31 ? 0xffffffff : 0, bl));
    EXPECT_EQ(fsxt_r(a, b), both(ar >> 31 ? 0xffffffff : 0, br));
    EXPECT_EQ(fswap(a, b), both(br, al));
    EXPECT_EQ(fswap_nl(a, b), both(br ^ 0x80000000, al));
    EXPECT_EQ(fswap_nr(a, b), both(br, al ^ 0x80000000));
    EXPECT_EQ(fpack(a, b), both(to_single(a), to_single(b)));
    EXPECT_EQ(fand(a, b), from_integer(a.significand & b.significand));
    EXPECT_EQ(fandcm(a, b), from_integer(a.significand & ~b.significand));
    EXPECT_EQ(f_or(a, b), from_integer(a.significand | b.significand));
    EXPECT_EQ(fxor(a, b), from_integer(a.significand ^ b.significand));
    const uint64_t by_bits = fselect(a, b, c).significand;
    for (int bit = 0; bit < 64; ++bit)
      EXPECT_EQ(by_bits >> bit & 1, (c.significand >> bit & 1 ? a : b).significand >> bit & 1);
    const auto sign = [](uint64_t v) { return v & 0x80000000; };
    EXPECT_EQ(fpmerge_s(a, b), both(sign(al) | (bl & 0x7fffffff), sign(ar) | (br & 0x7fffffff)));
    EXPECT_EQ(fpmerge_ns(a, b), both((sign(al) ^ 0x80000000) | (bl & 0x7fffffff),
                                     (sign(ar) ^ 0x80000000) | (br & 0x7fffffff)));
    EXPECT_EQ(fpmerge_se(a, b),
              both((al & 0xff800000) | (bl & 0x7fffff), (ar & 0xff800000) | (br & 0x7fffff)));
  }
  for (const auto function :
       {fmerge_s, fmerge_ns, fmerge_se, fmix_l, fmix_r, fmix_lr, fsxt_l, fsxt_r, fswap, fswap_nl,
        fswap_nr, fpack, fand, fandcm, f_or, fxor, fpmerge_s, fpmerge_ns, fpmerge_se}) {
    EXPECT_EQ(function(kNatVal, kOne), kNatVal);
    EXPECT_EQ(function(kOne, kNatVal), kNatVal);
  }
  EXPECT_EQ(fselect(kOne, kOne, kNatVal), kNatVal);
  EXPECT_EQ(fselect(kOne, kNatVal, kOne), kNatVal);
}

/// Compares with GMP's integers.
TEST(Ia64FloatingRegister, IntegerMultiplyAdd) {
  Operands operands(73);
  mpz_t a, b, c;
  mpz_inits(a, b, c, nullptr);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    const uint64_t v[] = {operands.bits() >> operands.below(64) << operands.below(64),
                          operands.bits() >> operands.below(64), operands.bits()};
    const FloatingRegister f3 = {v[0], operands.bits() & 0xffff}, f4 = from_integer(v[1]),
                           f2 = from_integer(v[2]);
    const auto half = [&](bool high) {
      mpz_mul(a, a, b);
      mpz_add(a, a, c);
      if (high) mpz_fdiv_q_2exp(a, a, 64);
      mpz_fdiv_r_2exp(a, a, 64);
      return from_integer(mpz_get_ui(a));
    };
    mpz_set_ui(c, v[2]);
    mpz_set_ui(a, v[0]);
    mpz_set_ui(b, v[1]);
    EXPECT_EQ(xma_hu(f3, f4, f2), half(true));
    mpz_set_si(a, static_cast<int64_t>(v[0]));
    mpz_set_si(b, static_cast<int64_t>(v[1]));
    EXPECT_EQ(xma_h(f3, f4, f2), half(true));
    mpz_set_si(a, static_cast<int64_t>(v[0]));
    EXPECT_EQ(xma_l(f3, f4, f2), half(false));
  }
  mpz_clears(a, b, c, nullptr);
  for (const auto function : {xma_l, xma_h, xma_hu}) {
    EXPECT_EQ(function(kNatVal, kOne, kOne), kNatVal);
    EXPECT_EQ(function(kOne, kNatVal, kOne), kNatVal);
    EXPECT_EQ(function(kOne, kOne, kNatVal), kNatVal);
  }
}

TEST(Ia64FloatingRegister, StatusRegister) {
  const uint64_t sf2 = status_shift(2);
  uint64_t fpsr = kInitialFpsr;
  EXPECT_TRUE(valid_fpsr(fpsr));
  EXPECT_FALSE(valid_fpsr(fpsr | uint64_t{1} << 58));
  EXPECT_FALSE(valid_fpsr(fpsr | 0x1000));
  EXPECT_FALSE(valid_fpsr(fpsr & ~(uint64_t{8} << sf2)));
  raise_flags(fpsr, 2, kInexact | kInvalid);
  EXPECT_EQ(fpsr, kInitialFpsr | uint64_t{0x21} << (sf2 + 7));
  EXPECT_TRUE(fchkf(fpsr, 2));
  EXPECT_FALSE(fchkf(fpsr, 1));
  raise_flags(fpsr, 0, kInexact | kInvalid);
  EXPECT_FALSE(fchkf(fpsr, 2));                // sf0 also has these flags
  EXPECT_TRUE(fchkf(fpsr & ~uint64_t{1}, 2));  // an exception of these flags is enabled
  EXPECT_EQ(fclrf(fclrf(fpsr, 2), 0), kInitialFpsr);

  // fsetc takes the controls of sf0.
  EXPECT_TRUE(fsetc(fpsr, 3, 0x7f, 0x42));
  EXPECT_EQ(status_field(fpsr, 3).bits, 0x4eu);
  EXPECT_TRUE(fsetc(fpsr, 0, 0x0c, 0x31));
  EXPECT_EQ(status_field(fpsr, 0).bits & 0x7f, 0x3du);
  EXPECT_EQ(status_field(fpsr, 0).rounding(), Rounding::zero);
  EXPECT_EQ(status_field(fpsr, 0).flags(), kInexact | kInvalid);
  const uint64_t before = fpsr;
  EXPECT_FALSE(fsetc(fpsr, 0, 0x3f, 0x40));  // td of sf0
  EXPECT_FALSE(fsetc(fpsr, 1, 0x04, 0x00));  // pc 1
  EXPECT_EQ(fpsr, before);
}

}  // namespace
}  // namespace respike::test
