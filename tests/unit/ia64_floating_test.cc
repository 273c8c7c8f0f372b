// Compares scalar floating-point of IA-64 with MPFR: values, flags, faults and traps, for all
// completers, precision controls, rounding modes, ranges and ftz, with operands of all encodings.

#include <gtest/gtest.h>

#include "tests/unit/ia64_floating_testing.h"

namespace respike::test {
namespace {

using Three = std::array<FloatingRegister, 3>;  // f3, f4, f2

std::string describe(const Three& f) {
  std::ostringstream text;
  for (const FloatingRegister& r : f) {
    emulator::ia64::PrintTo(r, &text);
    text << "; ";
  }
  return text.str();
}

bool unsupported(const FloatingRegister& f) {
  return f.exponent() == 0x1ffff && f.significand >> 63 == 0;
}
bool nan(const FloatingRegister& f) {
  return f.exponent() == 0x1ffff && f.significand > uint64_t{1} << 63;
}
bool signaling(const FloatingRegister& f) {
  return nan(f) && !(f.significand >> 62 & 1);
}
bool unnormal(const FloatingRegister& f) {
  if (f == kNatVal || f.exponent() == 0x1ffff) return false;
  return f.exponent() == 0 ? f.significand != 0 : f.significand >> 63 == 0;
}
bool pseudo_zero(const FloatingRegister& f) {
  return unnormal(f) && f.significand == 0;
}

/// The outcomes that operands decide before arithmetic, by the manual's order of checks. `operands`
/// are in the order in which NaNs are chosen.
std::optional<Expected> screened(std::initializer_list<FloatingRegister> operands) {
  for (const FloatingRegister& f : operands)
    if (f == kNatVal) return Expected{kNatVal, 0};
  for (const FloatingRegister& f : operands)
    if (unsupported(f)) return Expected{kIndefinite, kInvalid};
  uint32_t flags = 0;
  for (const FloatingRegister& f : operands)
    if (signaling(f)) flags = kInvalid;
  for (const FloatingRegister& f : operands)
    if (nan(f)) return Expected{{f.significand | uint64_t{1} << 62, f.sign_exponent}, flags};
  return std::nullopt;
}

bool any_unnormal(std::initializer_list<FloatingRegister> operands) {
  for (const FloatingRegister& f : operands)
    if (unnormal(f)) return true;
  return false;
}

/// Compares the outcome of an instruction with the expected outcome, faults and traps included.
void check(const Controls& c, const Expected& expected, FloatingInterruption interruption,
           const FloatingRegister& result, uint64_t fpsr, const std::string& what) {
  SCOPED_TRACE(what + describe(c));
  const uint32_t enabled = ~c.traps & 0x3f;
  const uint32_t fault = expected.flags & enabled & 7;
  if (fault) {
    EXPECT_EQ(interruption, fault);
    EXPECT_EQ(result, FloatingRegister({1, 2}));
    EXPECT_EQ(fpsr, c.fpsr());
    return;
  }
  EXPECT_EQ(result, expected.value);
  EXPECT_EQ(fpsr, c.fpsr() | static_cast<uint64_t>(expected.flags) << (13 + 13 * c.sf));
  const uint32_t trap = expected.flags & enabled;
  EXPECT_EQ(interruption != 0, trap != 0);
  if (trap) {
    EXPECT_TRUE(interruption & kFloatingTrap);
    EXPECT_EQ(interruption & 0x3800, ((trap | (expected.flags & kInexact)) >> 3) << 11);
    EXPECT_EQ(interruption & 0xffff & ~0x7800u, 0u);
  }
}

enum class Form { fma, fms, fnma, fmpy, fnmpy, fnorm };

Expected expected_of(Form form, const Controls& c, Three f) {
  const bool product_only = form == Form::fmpy || form == Form::fnmpy || form == Form::fnorm;
  const auto done = product_only ? screened({f[1], f[0]}) : screened({f[1], f[2], f[0]});
  if (done) return *done;
  const bool addend_unnormal = !product_only && unnormal(f[2]);
  const uint32_t denormal = any_unnormal({f[0], f[1]}) || addend_unnormal ? kDenormal : 0;
  Number a(f[0]), b(f[1]), s(f[2]);
  // A pseudo-zero times infinity is infinity, as is any other number times infinity.
  if (pseudo_zero(f[0]) && mpfr_inf_p(b)) mpfr_set_si(a, f[0].sign() ? -1 : 1, MPFR_RNDN);
  if (pseudo_zero(f[1]) && mpfr_inf_p(a)) mpfr_set_si(b, f[1].sign() ? -1 : 1, MPFR_RNDN);
  if (form == Form::fms) mpfr_neg(s, s, MPFR_RNDN);
  if (form == Form::fnma || form == Form::fnmpy) mpfr_neg(a, a, MPFR_RNDN);
  Expected expected = rounded(c, [&](mpfr_ptr x, mpfr_rnd_t rounding) {
    return product_only ? mpfr_mul(x, a, b, rounding) : mpfr_fma(x, a, b, s, rounding);
  });
  if (expected.flags != kInvalid) expected.flags |= denormal;
  return expected;
}

FloatingInterruption execute(Form form, FloatingRegister& result, const Controls& c, const Three& f,
                             uint64_t& fpsr) {
  switch (form) {
    case Form::fma:
      return fma(result, c.precision, c.sf, f[0], f[1], f[2], fpsr);
    case Form::fms:
      return fms(result, c.precision, c.sf, f[0], f[1], f[2], fpsr);
    case Form::fnma:
      return fnma(result, c.precision, c.sf, f[0], f[1], f[2], fpsr);
    case Form::fmpy:
      return fmpy(result, c.precision, c.sf, f[0], f[1], fpsr);
    case Form::fnmpy:
      return fnmpy(result, c.precision, c.sf, f[0], f[1], fpsr);
    case Form::fnorm:
      break;
  }
  return fnorm(result, c.precision, c.sf, f[0], fpsr);
}

void check_multiply_add(Form form, uint64_t seed) {
  Operands operands(seed);
  for (int i = 0; i < operands_per_operation() && !testing::Test::HasFailure(); ++i) {
    const Controls c = operands.controls();
    Three f = operands.three(c.type());
    if (form == Form::fnorm) f[1] = kOne;
    const Expected expected = expected_of(form, c, f);
    FloatingRegister result{1, 2};
    uint64_t fpsr = c.fpsr();
    const FloatingInterruption interruption = execute(form, result, c, f, fpsr);
    check(c, expected, interruption, result, fpsr, describe(f));
  }
}

TEST(Ia64Floating, Fma) {
  check_multiply_add(Form::fma, 1);
}
TEST(Ia64Floating, Fms) {
  check_multiply_add(Form::fms, 2);
}
TEST(Ia64Floating, Fnma) {
  check_multiply_add(Form::fnma, 3);
}
TEST(Ia64Floating, Fmpy) {
  check_multiply_add(Form::fmpy, 4);
}
TEST(Ia64Floating, Fnmpy) {
  check_multiply_add(Form::fnmpy, 5);
}
TEST(Ia64Floating, Fnorm) {
  check_multiply_add(Form::fnorm, 6);
}

/// 2^emin - 2^(emin - bits) is tiny, but rounded to the precision of a denormal it is 2^emin. The
/// host's result alone does not show that it was tiny.
TEST(Ia64Floating, TinyResultsThatRoundToTheSmallestNormalNumber) {
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    for (const bool was_inexact : {false, true}) {
      Controls c;
      c.precision = precision;
      c.was_inexact = was_inexact;
      const RealType type = c.type();
      // Factors of 2^(bits + 1) - 1; the product is just below 2^(emin + 1), the addend is -2^emin.
      const uint64_t a = precision == Precision::single_precision ? 18631 : (1 << 27) - 1;
      const uint64_t b = precision == Precision::single_precision ? 1801 : (1 << 27) + 1;
      const auto integer = [](uint64_t v, int scale) {
        FloatingRegister f = fcvt_xf(from_integer(v));
        f.sign_exponent += static_cast<uint64_t>(scale);
        return f;
      };
      const int scale = type.emin + 1 - (type.bits + 1);
      for (int digits = 0; digits < 2; ++digits) {  // with 1: not tiny after rounding
        const Three f = {
            integer(a, scale / 2), integer(b + static_cast<uint64_t>(digits), scale - scale / 2),
            FloatingRegister::of(true, static_cast<uint32_t>(type.emin + 0xffff), kIntegerBit)};
        uint64_t fpsr = c.fpsr();
        FloatingRegister result{1, 2};
        const FloatingInterruption interruption = execute(Form::fma, result, c, f, fpsr);
        check(c, expected_of(Form::fma, c, f), interruption, result, fpsr, describe(f));
        EXPECT_EQ((c.flags(fpsr) & kUnderflow) != 0, digits == 0);
      }
    }
  }
}

TEST(Ia64Floating, FpaSaysThatTheResultIsGreaterInMagnitude) {
  Operands operands(7);
  int taken = 0;
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    Controls c = operands.controls();
    c.traps = 0x3f ^ (kOverflow | kUnderflow | kInexact);
    const Three f = operands.three(c.type());
    if (screened({f[0], f[1], f[2]}) || any_unnormal({f[0], f[1], f[2]})) continue;
    FloatingRegister result;
    uint64_t fpsr = c.fpsr();
    const FloatingInterruption interruption = execute(Form::fma, result, c, f, fpsr);
    if (!interruption || c.flags(fpsr) & (kOverflow | kUnderflow | kInvalid)) continue;
    Number a(f[0]), b(f[1]), s(f[2]), x(c.type().bits);
    const int ternary = mpfr_fma(x, a, b, s, c.mpfr_rounding());
    SCOPED_TRACE(describe(f) + describe(c));
    EXPECT_EQ((interruption >> 14 & 1) != 0, mpfr_signbit(x) ? ternary < 0 : ternary > 0);
    ++taken;
  }
  EXPECT_GT(taken, operands_per_operation() / 10);
}

TEST(Ia64Floating, DisabledTrapsOfAStatusFieldDisableAll) {
  const uint64_t fpsr_before = kInitialFpsr & ~uint64_t{0x3f};  // all enabled; sf1 has td
  for (const FloatingRegister& f :
       {FloatingRegister{3, 0x1ffff}, kNatVal, FloatingRegister{1, 1}}) {
    uint64_t fpsr = fpsr_before;
    FloatingRegister result;
    EXPECT_EQ(fma(result, Precision::single_precision, 1, f, f, f, fpsr), 0u);
    EXPECT_EQ(fma(result, Precision::single_precision, 0, f, f, f, fpsr) != 0, f != kNatVal);
  }
}

// --- comparison, minimum and maximum --------------------------------------------------------

/// Pairs; frequently they are equal in value, differ in the last bit, or differ in sign only.
std::array<FloatingRegister, 2> pair(Operands& operands) {
  FloatingRegister a = operands.three({64, -16382, 16383, 0})[0];
  FloatingRegister b = operands.three({64, -16382, 16383, 0})[1];
  switch (operands.below(6)) {
    case 0:
      b = a;
      break;
    case 1:
      b = {a.significand ^ 1, a.sign_exponent};
      break;
    case 2:
      b = {a.significand, a.sign_exponent ^ 0x20000};
      break;
    case 3: {  // the same value, not normalized
      const int shift = operands.below(8);
      b = {a.significand >> shift, a.sign_exponent + static_cast<uint64_t>(shift)};
      break;
    }
    default:
      break;
  }
  return {a, b};
}

struct Relations {
  bool less, equal, greater, unordered;
};

Relations relations(const FloatingRegister& a, const FloatingRegister& b) {
  if (nan(a) || nan(b) || unsupported(a) || unsupported(b)) return {false, false, false, true};
  const int order = mpfr_cmp(Number(a), Number(b));
  return {order<0, order == 0, order> 0, false};
}

uint32_t comparison_flags(const FloatingRegister& a, const FloatingRegister& b, bool signals) {
  if (unsupported(a) || unsupported(b) || signaling(a) || signaling(b)) return kInvalid;
  if (nan(a) || nan(b)) return signals ? kInvalid : 0;
  return unnormal(a) || unnormal(b) ? kDenormal : 0;
}

TEST(Ia64Floating, Fcmp) {
  Operands operands(8);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    const Controls c = operands.controls();
    const auto [a, b] = pair(operands);
    const Relations r = a == kNatVal || b == kNatVal ? Relations{} : relations(a, b);
    const std::array<bool, 8> holds = {r.equal,  r.less,  r.less || r.equal,    r.unordered,
                                       !r.equal, !r.less, !(r.less || r.equal), !r.unordered};
    const int relation = operands.below(8);
    const bool signals = (relation & 3) == 1 || (relation & 3) == 2;
    const bool nat = a == kNatVal || b == kNatVal;
    const uint32_t flags = nat ? 0 : comparison_flags(a, b, signals);
    uint64_t fpsr = c.fpsr();
    bool result = true;
    const FloatingInterruption interruption =
        fcmp(result, static_cast<FloatingRelation>(relation), c.sf, a, b, fpsr);
    SCOPED_TRACE(describe({a, b, {}}) + describe(c) + " relation " + std::to_string(relation));
    EXPECT_EQ(interruption, flags & ~c.traps);
    EXPECT_EQ(c.flags(fpsr), (flags & ~c.traps ? 0 : flags) | c.flags_before());
    if (interruption == 0) {
      EXPECT_EQ(result, !nat && holds[static_cast<size_t>(relation)]);
    }
  }
}

TEST(Ia64Floating, MinimumAndMaximum) {
  Operands operands(9);
  const auto magnitude = [](FloatingRegister f) {
    if (f != kNatVal) f.sign_exponent &= 0x1ffff;
    return f;
  };
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    const Controls c = operands.controls();
    const auto [a, b] = pair(operands);
    const int which = operands.below(4);
    const FloatingRegister x = which < 2 ? a : magnitude(a), y = which < 2 ? b : magnitude(b);
    Expected expected = {kNatVal, 0};
    if (a != kNatVal && b != kNatVal) {
      const Relations r = relations(x, y);
      expected = {(which % 2 == 0 ? r.less : r.greater) ? a : b, comparison_flags(a, b, true)};
      if (x == kNatVal || y == kNatVal) continue;  // a pseudo-zero whose absolute value is NaTVal
    }
    uint64_t fpsr = c.fpsr();
    FloatingRegister result{1, 2};
    constexpr std::array functions = {fmin, fmax, famin, famax};
    const FloatingInterruption interruption =
        functions[static_cast<size_t>(which)](result, c.sf, a, b, fpsr);
    check(c, expected, interruption, result, fpsr, describe({a, b, {}}) + std::to_string(which));
  }
}

// --- conversions ----------------------------------------------------------------------------

TEST(Ia64Floating, ToInteger) {
  Operands operands(10);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    Controls c = operands.controls();
    const bool is_unsigned = operands.below(2), truncate = operands.below(2);
    FloatingRegister f =
        operands.below(4) ? operands.normal(operands.below(70) - 3) : operands.special();
    Expected expected = {from_integer(uint64_t{1} << 63), kInvalid};
    if (f == kNatVal) {
      expected = {kNatVal, 0};
    } else if (!nan(f) && !unsupported(f)) {
      Number x(f), n(128);
      const mpfr_rnd_t rounding = truncate ? MPFR_RNDZ : c.mpfr_rounding();
      const int ternary = mpfr_rint(n, x, rounding);
      const uint32_t flags = (ternary ? kInexact : 0) | (unnormal(f) ? kDenormal : 0);
      if (is_unsigned && mpfr_fits_ulong_p(n, MPFR_RNDN))
        expected = {from_integer(mpfr_get_ui(n, MPFR_RNDN)), flags};
      if (!is_unsigned && mpfr_fits_slong_p(n, MPFR_RNDN))
        expected = {from_integer(static_cast<uint64_t>(mpfr_get_si(n, MPFR_RNDN))), flags};
    }
    uint64_t fpsr = c.fpsr();
    FloatingRegister result{1, 2};
    const FloatingInterruption interruption = fcvt_fx(result, is_unsigned, truncate, c.sf, f, fpsr);
    check(c, expected, interruption, result, fpsr,
          describe({f, {}, {}}) + (is_unsigned ? "u " : "s ") + (truncate ? "trunc " : ""));
  }
}

TEST(Ia64Floating, FromInteger) {
  Operands operands(11);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    const uint64_t value = operands.bits() >> operands.below(64) << operands.below(64);
    Number x(64);
    mpfr_set_si(x, static_cast<int64_t>(value), MPFR_RNDN);
    EXPECT_EQ(fcvt_xf(from_integer(value)), to_register(x, {64, -65534, 65535, 1}));
  }
  EXPECT_EQ(fcvt_xf(kNatVal), kNatVal);
}

}  // namespace
}  // namespace respike::test
