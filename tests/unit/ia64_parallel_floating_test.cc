// Compares parallel floating-point of IA-64 with the host's single precision, lane by lane: values,
// flags, and which lane's exceptions are reported. Also compares scalar .s and .d with the host.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "emulators/ia64/floating_parallel.h"
#include "tests/unit/ia64_floating_testing.h"
#include "tests/unit/ia64_host_floating.h"

namespace respike::test {
namespace {

float as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
uint32_t as_bits(float value) {
  return std::bit_cast<uint32_t>(value);
}
uint32_t lane(const FloatingRegister& f, int i) {
  return static_cast<uint32_t>(f.significand >> (32 * i));
}
FloatingRegister pair(uint32_t left, uint32_t right) {
  return from_integer(static_cast<uint64_t>(left) << 32 | right);
}

/// Numbers near one, any numbers, denormals, special values, and bounds of the range.
uint32_t random_single(Operands& operands) {
  const uint32_t bits = static_cast<uint32_t>(operands.bits());
  switch (operands.below(6)) {
    case 0:
      return bits;
    case 1:
      return bits & 0x807fffff;
    case 2: {
      constexpr uint32_t kSpecial[] = {0, 0x3f800000, 0x7f800000, 0x7f7fffff,
                                       1, 0x00800000, 0x7fc00000, 0x7f800001};
      return (bits & 0x80000000) | kSpecial[operands.below(8)];
    }
    case 3:
      return (bits & 0x80ff0000) | 0x3f000000;
    default:
      return (bits & 0x80ffffff) | 0x3f000000;
  }
}

bool is_nan_single(uint32_t bits) {
  return std::isnan(as_float(bits));
}
bool is_denormal_single(uint32_t bits) {
  return (bits << 1) >> 24 == 0 && bits << 1 != 0;
}

/// V Z O U I as the host reports them; D if an operand is denormal and no earlier check decided.
uint32_t expected_flags(uint32_t host, std::initializer_list<uint32_t> operands) {
  uint32_t flags = host & ~kDenormal;
  bool nan = false, denormal = false;
  for (uint32_t bits : operands) {
    nan |= is_nan_single(bits);
    denormal |= is_denormal_single(bits);
  }
  return flags | (denormal && !nan && !(flags & kInvalid) ? kDenormal : 0);
}

void expect_lane(uint32_t result, uint32_t expected) {
  if (is_nan_single(expected))
    EXPECT_TRUE(is_nan_single(result) && (result & 0x400000)) << std::hex << result;
  else
    EXPECT_EQ(result, expected) << std::hex << result << " " << expected;
}

[[gnu::target("fma")]] float host_fma(float a, float b, float c) {
  return opaque(__builtin_fmaf(opaque(a), opaque(b), opaque(c)));
}
[[gnu::target("fma")]] double host_fma(double a, double b, double c) {
  return opaque(__builtin_fma(opaque(a), opaque(b), opaque(c)));
}

TEST(Ia64ParallelFloating, MultiplyAdd) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "the host has no fused multiply-add";
  Operands operands(50);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    uint32_t v[3][2], expected[2], flags = 0;
    for (auto& lanes : v)
      for (uint32_t& bits : lanes) bits = random_single(operands);
    const int form = operands.below(5);  // fpma, fpms, fpnma, fpmpy, fpnmpy
    const auto rounding = static_cast<Rounding>(operands.below(4));
    for (int l = 0; l < 2; ++l) {
      const HostFloating host(rounding);
      const float a = as_float(v[0][l] ^ (form == 2 || form == 4 ? 0x80000000 : 0));
      const float b = as_float(v[1][l]);
      const float c = as_float(v[2][l] ^ (form == 1 ? 0x80000000 : 0));
      expected[l] = as_bits(form < 3 ? host_fma(a, b, c) : opaque(opaque(a) * opaque(b)));
      flags |= form < 3 ? expected_flags(host.flags(), {v[0][l], v[1][l], v[2][l]})
                        : expected_flags(host.flags(), {v[0][l], v[1][l]});
    }
    const FloatingRegister f3 = pair(v[0][1], v[0][0]), f4 = pair(v[1][1], v[1][0]),
                           f2 = pair(v[2][1], v[2][0]);
    uint64_t fpsr = kInitialFpsr | static_cast<uint64_t>(rounding) << 10;
    FloatingRegister result;
    switch (form) {
      case 0:
        fpma(result, 0, f3, f4, f2, fpsr);
        break;
      case 1:
        fpms(result, 0, f3, f4, f2, fpsr);
        break;
      case 2:
        fpnma(result, 0, f3, f4, f2, fpsr);
        break;
      case 3:
        fpmpy(result, 0, f3, f4, fpsr);
        break;
      default:
        fpnmpy(result, 0, f3, f4, fpsr);
    }
    SCOPED_TRACE(testing::PrintToString(f3) + testing::PrintToString(f4) +
                 testing::PrintToString(f2) + " form " + std::to_string(form) + " rc " +
                 std::to_string(static_cast<int>(rounding)));
    EXPECT_EQ(result.sign_exponent, kIntegerExponent);
    for (int l = 0; l < 2; ++l) expect_lane(lane(result, l), expected[l]);
    EXPECT_EQ(fpsr >> 13 & 0x3f, flags);
  }
}

/// A lane has the result of the scalar instruction with .s, with every control and trap; the ISR
/// code names the lane.
TEST(Ia64ParallelFloating, LanesAreScalars) {
  Operands operands(51);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    Controls c = operands.controls();
    c.traps = static_cast<uint32_t>(operands.below(64));
    c.wre = false;
    uint32_t v[3][2], code = 0;
    for (auto& lanes : v)
      for (uint32_t& bits : lanes) bits = random_single(operands);
    uint64_t expected_fpsr = c.fpsr();
    FloatingRegister x[2];
    bool fault = false, trap = false, wrapped[2] = {};
    for (int l = 0; l < 2; ++l) {
      uint64_t fpsr = c.fpsr();
      const FloatingInterruption one =
          fma(x[l], Precision::single_precision, c.sf, from_single(v[0][l]), from_single(v[1][l]),
              from_single(v[2][l]), fpsr);
      expected_fpsr |= fpsr;
      fault |= one != 0 && !(one & kFloatingTrap);
      trap |= (one & kFloatingTrap) != 0;
      wrapped[l] = one & 0x1800;
    }
    for (int l = 0; l < 2; ++l) {
      FloatingRegister unused;
      uint64_t fpsr = c.fpsr();
      const FloatingInterruption one =
          fma(unused, Precision::single_precision, c.sf, from_single(v[0][l]), from_single(v[1][l]),
              from_single(v[2][l]), fpsr);
      const bool is_trap = one & kFloatingTrap;
      if (is_trap == fault) continue;  // a fault in one lane prevents the trap of the other
      code |= is_trap ? (one & 0xffff) >> (l == 0 ? 4 : 0) : one << (l == 0 ? 4 : 0);
    }
    uint64_t fpsr = c.fpsr();
    FloatingRegister result{1, 2};
    const FloatingInterruption interruption = fpma(
        result, c.sf, pair(v[0][1], v[0][0]), pair(v[1][1], v[1][0]), pair(v[2][1], v[2][0]), fpsr);
    EXPECT_EQ(interruption, fault ? code : trap ? kFloatingTrap | code : 0u) << describe(c);
    EXPECT_EQ(fpsr, fault ? c.fpsr() : expected_fpsr);
    if (fault) {
      EXPECT_EQ(result, FloatingRegister({1, 2}));
      continue;
    }
    for (int l = 0; l < 2; ++l) {
      uint32_t expected = to_single(x[l]);
      if (wrapped[l])
        expected = (expected & 0x807fffff) | ((x[l].exponent() - 0xffff + 127) & 0xff) << 23;
      EXPECT_EQ(lane(result, l), expected) << describe(c);
    }
  }
}

/// Compares .s and .d without wre on the host's numbers, with the inexact flag set before or not.
template <typename T>
void check_scalar(Precision precision) {
  Operands operands(52 + sizeof(T));
  for (int i = 0; i < operands_per_operation() && !testing::Test::HasFailure(); ++i) {
    T v[3];
    for (T& x : v) {
      if constexpr (sizeof(T) == 4) {
        x = as_float(random_single(operands));
      } else {
        uint64_t bits = operands.bits();
        if (operands.below(4)) bits = (bits & 0x801fffffffffffff) | 0x3fe0000000000000;
        if (operands.below(8) == 0) bits &= 0x800fffff00000000;
        if (operands.below(8) == 0) bits &= 0xfff8000000000000;
        x = std::bit_cast<double>(bits);
      }
    }
    const auto rounding = static_cast<Rounding>(operands.below(4));
    T expected;
    uint32_t flags;
    {
      const HostFloating host(rounding);
      expected = host_fma(v[0], v[1], v[2]);
      flags = host.flags() & ~kDenormal;
    }
    FloatingRegister f[3], result;
    for (int k = 0; k < 3; ++k) {
      if constexpr (sizeof(T) == 4)
        f[k] = from_single(as_bits(v[k]));
      else
        f[k] = from_double(std::bit_cast<uint64_t>(v[k]));
    }
    const uint64_t before = operands.below(2) ? uint64_t{1} << 18 : 0;
    uint64_t fpsr = kInitialFpsr | static_cast<uint64_t>(rounding) << 10 | before;
    EXPECT_EQ(fma(result, precision, 0, f[0], f[1], f[2], fpsr), 0u);
    SCOPED_TRACE(testing::PrintToString(f[0]) + testing::PrintToString(f[1]) +
                 testing::PrintToString(f[2]) + " rc " +
                 std::to_string(static_cast<int>(rounding)));
    EXPECT_EQ(fpsr >> 13 & 0x3f & ~kDenormal, flags | (before ? kInexact : 0));
    if (std::isnan(expected)) {
      EXPECT_TRUE(fclass(result, kClassQuietNan | kClassPositive | kClassNegative));
    } else if constexpr (sizeof(T) == 4) {
      EXPECT_EQ(to_single(result), as_bits(expected));
      EXPECT_EQ(result, from_single(as_bits(expected)));
    } else {
      EXPECT_EQ(to_double(result), std::bit_cast<uint64_t>(expected));
      EXPECT_EQ(result, from_double(std::bit_cast<uint64_t>(expected)));
    }
  }
}

TEST(Ia64ParallelFloating, ScalarSingleIsTheHosts) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "the host has no fused multiply-add";
  check_scalar<float>(Precision::single_precision);
}
TEST(Ia64ParallelFloating, ScalarDoubleIsTheHosts) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "the host has no fused multiply-add";
  check_scalar<double>(Precision::double_precision);
}

TEST(Ia64ParallelFloating, CompareMinimumMaximum) {
  Operands operands(60);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    uint32_t v[2][2];
    for (auto& lanes : v)
      for (uint32_t& bits : lanes) bits = random_single(operands);
    if (operands.below(3) == 0) v[1][0] = v[0][0] ^ (operands.below(2) ? 0x80000000 : 0);
    const FloatingRegister f2 = pair(v[0][1], v[0][0]), f3 = pair(v[1][1], v[1][0]);
    const int relation = operands.below(8);
    uint64_t fpsr = kInitialFpsr;
    FloatingRegister compared, extremum;
    fpcmp(compared, static_cast<FloatingRelation>(relation), 0, f2, f3, fpsr);
    constexpr std::array functions = {fpmin, fpmax, fpamin, fpamax};
    const int which = operands.below(4);
    functions[static_cast<size_t>(which)](extremum, 0, f2, f3, fpsr);
    uint32_t flags = 0;
    for (int l = 0; l < 2; ++l) {
      const float a = as_float(v[0][l]), b = as_float(v[1][l]);
      const bool less = a < b, equal = a == b, unordered = std::isnan(a) || std::isnan(b);
      const bool holds[] = {equal,  less,  less || equal,    unordered,
                            !equal, !less, !(less || equal), !unordered};
      EXPECT_EQ(lane(compared, l), holds[relation] ? 0xffffffff : 0) << a << " " << b << relation;
      const float x = which < 2 ? a : std::fabs(a), y = which < 2 ? b : std::fabs(b);
      const bool first = which % 2 == 0 ? x < y : y < x;
      EXPECT_EQ(lane(extremum, l), first ? v[0][l] : v[1][l]) << a << " " << b << " " << which;
      // A minimum signals with any NaN; a comparison need not.
      if (unordered)
        flags |= kInvalid;
      else if (is_denormal_single(v[0][l]) || is_denormal_single(v[1][l]))
        flags |= kDenormal;
    }
    EXPECT_EQ(fpsr >> 13 & 0x3f, flags);
  }
}

TEST(Ia64ParallelFloating, ToInteger) {
  Operands operands(61);
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    uint32_t v[2], expected[2], flags = 0;
    const bool is_unsigned = operands.below(2), truncate = operands.below(2);
    const auto rounding = static_cast<Rounding>(operands.below(4));
    for (int l = 0; l < 2; ++l) {
      v[l] = random_single(operands);
      if (operands.below(2))  // up to 2^33
        v[l] = (v[l] & 0x807fffff) | static_cast<uint32_t>(120 + operands.below(41)) << 23;
      const HostFloating host(truncate ? Rounding::zero : rounding);
      const int64_t wide = _mm_cvtss_si64(_mm_set_ss(opaque(as_float(v[l]))));
      const bool fits =
          is_unsigned ? wide >= 0 && wide <= UINT32_MAX : wide >= INT32_MIN && wide <= INT32_MAX;
      expected[l] = fits ? static_cast<uint32_t>(wide) : 0x80000000;
      flags |=
          !fits ? kInvalid : (host.flags() & kInexact) | (is_denormal_single(v[l]) ? kDenormal : 0);
    }
    uint64_t fpsr = kInitialFpsr | static_cast<uint64_t>(rounding) << 10;
    FloatingRegister result;
    fpcvt_fx(result, is_unsigned, truncate, 0, pair(v[1], v[0]), fpsr);
    EXPECT_EQ(result, pair(expected[1], expected[0])) << as_float(v[1]) << " " << as_float(v[0]);
    EXPECT_EQ(fpsr >> 13 & 0x3f, flags);
  }
}

/// Division of two pairs at once, as in Intel's library, where the predicate says that this works.
TEST(Ia64ParallelFloating, Division) {
  Operands operands(62);
  int refined = 0;
  for (int i = 0; i < operands_per_operation() && !HasFailure(); ++i) {
    const uint32_t v[2][2] = {{random_single(operands), random_single(operands)},
                              {random_single(operands), random_single(operands)}};
    const FloatingRegister a = pair(v[0][1], v[0][0]), b = pair(v[1][1], v[1][0]);
    const FloatingRegister one = pair(0x3f800000, 0x3f800000);
    uint64_t fpsr = kInitialFpsr;
    bool refine = true;
    FloatingRegister y0, d, q0, y1, r0, e, y2, q1, y3, r1, q;
    EXPECT_EQ(fprcpa(y0, refine, 0, a, b, fpsr), 0u);
    if (!refine) continue;
    ++refined;
    fpnma(d, 1, b, y0, one, fpsr);
    fpmpy(q0, 1, a, y0, fpsr);
    fpma(y1, 1, y0, d, y0, fpsr);
    fpnma(r0, 1, b, q0, a, fpsr);
    fpnma(e, 1, b, y1, one, fpsr);
    fpma(y2, 1, y0, d, y1, fpsr);
    fpma(q1, 1, r0, y1, q0, fpsr);
    fpma(y2, 1, e, y1, y1, fpsr);
    fpnma(e, 1, b, y2, one, fpsr);
    fpma(y3, 1, e, y2, y2, fpsr);
    fpnma(r1, 1, b, q1, a, fpsr);
    fpma(q, 0, r1, y3, q1, fpsr);
    for (int l = 0; l < 2; ++l)
      EXPECT_EQ(lane(q, l), as_bits(as_float(v[0][l]) / as_float(v[1][l])))
          << as_float(v[0][l]) << " / " << as_float(v[1][l]);
  }
  EXPECT_GT(refined, operands_per_operation() / 20);
}

TEST(Ia64ParallelFloating, ApproximationsOfSpecialLanes) {
  uint64_t fpsr = kInitialFpsr;
  FloatingRegister y;
  bool refine = true;
  fprcpa(y, refine, 0, pair(0x3f800000, 0), pair(0, 0xc0000000), fpsr);  // 1 / 0, 0 / -2
  EXPECT_EQ(y, pair(0x7f800000, 0x80000000));
  EXPECT_FALSE(refine);
  EXPECT_EQ(fpsr >> 13 & 0x3f, kZeroDivide);
  fpsr = kInitialFpsr;
  fprcpa(y, refine, 0, pair(0x3f800000, 0x3f800000), pair(0xbf800000, 0x40000000), fpsr);
  EXPECT_EQ(y, pair(0xbf7f8000, 0x3eff8000));
  EXPECT_TRUE(refine);
  fprsqrta(y, refine, 0, pair(0xbf800000, 0x80000000), fpsr);  // -1, -0
  EXPECT_EQ(y, pair(0xffc00000, 0x80000000));
  EXPECT_FALSE(refine);
  EXPECT_EQ(fpsr >> 13 & 0x3f, kInvalid);
  fprsqrta(y, refine, 0, pair(0x3f800000, 0x40800000), fpsr);  // 1, 4
  EXPECT_EQ(y, pair(0x3f7f8000, 0x3eff8000));
  EXPECT_TRUE(refine);
  fprsqrta(y, refine, 0, pair(0x3f800000, 0x0b800000), fpsr);  // the right lane is too small
  EXPECT_FALSE(refine);
  refine = true;
  fprcpa(y, refine, 0, kNatVal, kOne, fpsr);
  EXPECT_EQ(y, kNatVal);
  EXPECT_FALSE(refine);
}

}  // namespace
}  // namespace respike::test
