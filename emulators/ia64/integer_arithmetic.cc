// Parallel integer instructions, one lane at a time.
//
// A register is an array of elements; each function says how one pair of elements is combined.
// Lanes are computed in int, which is wide enough for every intermediate value, and cut or
// saturated at the end. Compilers turn most of these loops into vector code; no instruction here is
// frequent enough for more effort. Example: padd1.uuu of elements 200 and 100 computes 300 and
// saturates to 255.

#include "emulators/ia64/integer_arithmetic.h"

#include <algorithm>
#include <array>
#include <limits>

namespace respike::emulator::ia64 {

namespace {

template <typename T>
using Elements = std::array<T, 8 / sizeof(T)>;

template <typename T>
Elements<T> split(uint64_t r) {
  return std::bit_cast<Elements<T>>(r);
}

/// f(a, b) for each pair of elements, cut to T.
template <typename T, typename F>
uint64_t lanes(uint64_t r2, uint64_t r3, F f) {
  const Elements<T> a = split<T>(r2), b = split<T>(r3);
  Elements<T> result;
  for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<T>(f(a[i], b[i]));
  return std::bit_cast<uint64_t>(result);
}

template <typename T>
int saturated(int value) {
  return std::clamp<int>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

/// padd and psub by completer; S and U are the signed and unsigned types of an element.
template <typename S, typename U, typename F>
uint64_t saturating(uint64_t r2, uint64_t r3, Saturation saturation, F f) {
  switch (saturation) {
    case Saturation::modulo:
      break;
    case Saturation::sss:
      return lanes<S>(r2, r3, [f](int a, int b) { return saturated<S>(f(a, b)); });
    case Saturation::uuu:
      return lanes<U>(r2, r3, [f](int a, int b) { return saturated<U>(f(a, b)); });
    case Saturation::uus:
      return lanes<U>(r2, r3, [f](int a, int b) { return saturated<U>(f(a, static_cast<S>(b))); });
  }
  return lanes<U>(r2, r3, f);
}

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSubtract = [](auto a, auto b) { return a - b; };
constexpr auto kEqual = [](auto a, auto b) { return a == b ? -1 : 0; };
constexpr auto kGreater = [](auto a, auto b) { return a > b ? -1 : 0; };
constexpr auto kMax = [](auto a, auto b) { return std::max(a, b); };
constexpr auto kMin = [](auto a, auto b) { return std::min(a, b); };

}  // namespace

// --- zero elements --------------------------------------------------------------------------

namespace {

template <typename T>
uint64_t first_zero(uint64_t r3, bool from_left) {
  const Elements<T> a = split<T>(r3);
  for (size_t i = 0; i < a.size(); ++i)
    if (a[from_left ? a.size() - 1 - i : i] == 0) return i;
  return a.size();
}

}  // namespace

uint64_t czx1_l(uint64_t r3) {
  return first_zero<uint8_t>(r3, true);
}
uint64_t czx1_r(uint64_t r3) {
  return first_zero<uint8_t>(r3, false);
}
uint64_t czx2_l(uint64_t r3) {
  return first_zero<uint16_t>(r3, true);
}
uint64_t czx2_r(uint64_t r3) {
  return first_zero<uint16_t>(r3, false);
}

// --- arithmetic -----------------------------------------------------------------------------

uint64_t padd1(uint64_t r2, uint64_t r3, Saturation saturation) {
  return saturating<int8_t, uint8_t>(r2, r3, saturation, kAdd);
}
uint64_t padd2(uint64_t r2, uint64_t r3, Saturation saturation) {
  return saturating<int16_t, uint16_t>(r2, r3, saturation, kAdd);
}
uint64_t padd4(uint64_t r2, uint64_t r3) {
  return lanes<uint32_t>(r2, r3, kAdd);
}
uint64_t psub1(uint64_t r2, uint64_t r3, Saturation saturation) {
  return saturating<int8_t, uint8_t>(r2, r3, saturation, kSubtract);
}
uint64_t psub2(uint64_t r2, uint64_t r3, Saturation saturation) {
  return saturating<int16_t, uint16_t>(r2, r3, saturation, kSubtract);
}
uint64_t psub4(uint64_t r2, uint64_t r3) {
  return lanes<uint32_t>(r2, r3, kSubtract);
}

namespace {

/// pavgsub and pavg without .raz: the last bit is 1 if one of the last two bits of the sum is 1,
/// which keeps errors from adding up.
constexpr auto kAverage = [](int a, int b) { return (a + b) >> 1 | ((a + b) & 1); };
constexpr auto kAverageAway = [](int a, int b) { return (a + b + 1) >> 1; };
constexpr auto kAverageDifference = [](int a, int b) { return (a - b) >> 1 | ((a - b) & 1); };

}  // namespace

uint64_t pavg1(uint64_t r2, uint64_t r3, bool round_away_from_zero) {
  return round_away_from_zero ? lanes<uint8_t>(r2, r3, kAverageAway)
                              : lanes<uint8_t>(r2, r3, kAverage);
}
uint64_t pavg2(uint64_t r2, uint64_t r3, bool round_away_from_zero) {
  return round_away_from_zero ? lanes<uint16_t>(r2, r3, kAverageAway)
                              : lanes<uint16_t>(r2, r3, kAverage);
}
uint64_t pavgsub1(uint64_t r2, uint64_t r3) {
  return lanes<uint8_t>(r2, r3, kAverageDifference);
}
uint64_t pavgsub2(uint64_t r2, uint64_t r3) {
  return lanes<uint16_t>(r2, r3, kAverageDifference);
}

uint64_t pcmp1_eq(uint64_t r2, uint64_t r3) {
  return lanes<int8_t>(r2, r3, kEqual);
}
uint64_t pcmp1_gt(uint64_t r2, uint64_t r3) {
  return lanes<int8_t>(r2, r3, kGreater);
}
uint64_t pcmp2_eq(uint64_t r2, uint64_t r3) {
  return lanes<int16_t>(r2, r3, kEqual);
}
uint64_t pcmp2_gt(uint64_t r2, uint64_t r3) {
  return lanes<int16_t>(r2, r3, kGreater);
}
uint64_t pcmp4_eq(uint64_t r2, uint64_t r3) {
  return lanes<int32_t>(r2, r3, kEqual);
}
uint64_t pcmp4_gt(uint64_t r2, uint64_t r3) {
  return lanes<int32_t>(r2, r3, kGreater);
}

uint64_t pmax1_u(uint64_t r2, uint64_t r3) {
  return lanes<uint8_t>(r2, r3, kMax);
}
uint64_t pmax2(uint64_t r2, uint64_t r3) {
  return lanes<int16_t>(r2, r3, kMax);
}
uint64_t pmin1_u(uint64_t r2, uint64_t r3) {
  return lanes<uint8_t>(r2, r3, kMin);
}
uint64_t pmin2(uint64_t r2, uint64_t r3) {
  return lanes<int16_t>(r2, r3, kMin);
}

namespace {

uint64_t products(uint64_t r2, uint64_t r3, size_t first) {
  const Elements<int16_t> a = split<int16_t>(r2), b = split<int16_t>(r3);
  const Elements<int32_t> result = {a[first] * b[first], a[first + 2] * b[first + 2]};
  return std::bit_cast<uint64_t>(result);
}

}  // namespace

uint64_t pmpy2_l(uint64_t r2, uint64_t r3) {
  return products(r2, r3, 1);
}
uint64_t pmpy2_r(uint64_t r2, uint64_t r3) {
  return products(r2, r3, 0);
}

uint64_t pmpyshr2(uint64_t r2, uint64_t r3, unsigned count) {
  return lanes<int16_t>(r2, r3, [count](int a, int b) { return a * b >> count; });
}
uint64_t pmpyshr2_u(uint64_t r2, uint64_t r3, unsigned count) {
  return lanes<uint16_t>(r2, r3, [count](uint32_t a, uint32_t b) { return a * b >> count; });
}

uint64_t psad1(uint64_t r2, uint64_t r3) {
  const Elements<uint8_t> a = split<uint8_t>(r2), b = split<uint8_t>(r3);
  uint64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
  return sum;
}

// --- shifts ---------------------------------------------------------------------------------

uint64_t pshl2(uint64_t r2, uint64_t count) {
  if (count > 15) return 0;
  return lanes<uint16_t>(r2, 0, [count](uint32_t a, uint32_t) { return a << count; });
}
uint64_t pshl4(uint64_t r2, uint64_t count) {
  if (count > 31) return 0;
  return lanes<uint32_t>(r2, 0, [count](uint32_t a, uint32_t) { return a << count; });
}
uint64_t pshr2(uint64_t r3, uint64_t count) {
  const uint64_t n = std::min<uint64_t>(count, 15);
  return lanes<int16_t>(r3, 0, [n](int a, int) { return a >> n; });
}
uint64_t pshr2_u(uint64_t r3, uint64_t count) {
  if (count > 15) return 0;
  return lanes<uint16_t>(r3, 0, [count](int a, int) { return a >> count; });
}
uint64_t pshr4(uint64_t r3, uint64_t count) {
  const uint64_t n = std::min<uint64_t>(count, 31);
  return lanes<int32_t>(r3, 0, [n](int a, int) { return a >> n; });
}
uint64_t pshr4_u(uint64_t r3, uint64_t count) {
  if (count > 31) return 0;
  return lanes<uint32_t>(r3, 0, [count](uint32_t a, uint32_t) { return a >> count; });
}

/// If the shift saturates, its result is final: the addition is skipped.
uint64_t pshladd2(uint64_t r2, unsigned count, uint64_t r3) {
  return lanes<int16_t>(r2, r3, [count](int a, int b) {
    const int shifted = a * (1 << count);
    const int clamped = saturated<int16_t>(shifted);
    return clamped != shifted ? clamped : saturated<int16_t>(shifted + b);
  });
}
uint64_t pshradd2(uint64_t r2, unsigned count, uint64_t r3) {
  return lanes<int16_t>(r2, r3,
                        [count](int a, int b) { return saturated<int16_t>((a >> count) + b); });
}

// --- rearrangement --------------------------------------------------------------------------

namespace {

/// Element i of the result is element from[i] of r2:r3, where indexes from `size` on mean r3.
template <typename T, size_t... from>
uint64_t permuted(uint64_t r2, uint64_t r3) {
  const std::array<uint64_t, 2> both = {r2, r3};
  const auto elements = std::bit_cast<std::array<T, 16 / sizeof(T)>>(both);
  return std::bit_cast<uint64_t>(Elements<T>{elements[from]...});
}

}  // namespace

uint64_t mux1(uint64_t r2, Mux1 permutation) {
  switch (permutation) {
    case Mux1::brcst:
      return (r2 & 0xff) * 0x0101010101010101;
    case Mux1::mix:
      return permuted<uint8_t, 0, 4, 2, 6, 1, 5, 3, 7>(r2, 0);
    case Mux1::shuf:
      return permuted<uint8_t, 0, 4, 1, 5, 2, 6, 3, 7>(r2, 0);
    case Mux1::alt:
      return permuted<uint8_t, 0, 2, 4, 6, 1, 3, 5, 7>(r2, 0);
    case Mux1::rev:
      break;
  }
  return __builtin_bswap64(r2);
}

uint64_t mux2(uint64_t r2, unsigned mhtype8) {
  const Elements<uint16_t> a = split<uint16_t>(r2);
  const Elements<uint16_t> result = {a[mhtype8 & 3], a[mhtype8 >> 2 & 3], a[mhtype8 >> 4 & 3],
                                     a[mhtype8 >> 6 & 3]};
  return std::bit_cast<uint64_t>(result);
}

uint64_t mix1_l(uint64_t r2, uint64_t r3) {
  return permuted<uint8_t, 9, 1, 11, 3, 13, 5, 15, 7>(r2, r3);
}
uint64_t mix1_r(uint64_t r2, uint64_t r3) {
  return permuted<uint8_t, 8, 0, 10, 2, 12, 4, 14, 6>(r2, r3);
}
uint64_t mix2_l(uint64_t r2, uint64_t r3) {
  return permuted<uint16_t, 5, 1, 7, 3>(r2, r3);
}
uint64_t mix2_r(uint64_t r2, uint64_t r3) {
  return permuted<uint16_t, 4, 0, 6, 2>(r2, r3);
}
uint64_t mix4_l(uint64_t r2, uint64_t r3) {
  return permuted<uint32_t, 3, 1>(r2, r3);
}
uint64_t mix4_r(uint64_t r2, uint64_t r3) {
  return permuted<uint32_t, 2, 0>(r2, r3);
}

uint64_t unpack1_h(uint64_t r2, uint64_t r3) {
  return permuted<uint8_t, 12, 4, 13, 5, 14, 6, 15, 7>(r2, r3);
}
uint64_t unpack1_l(uint64_t r2, uint64_t r3) {
  return permuted<uint8_t, 8, 0, 9, 1, 10, 2, 11, 3>(r2, r3);
}
uint64_t unpack2_h(uint64_t r2, uint64_t r3) {
  return permuted<uint16_t, 6, 2, 7, 3>(r2, r3);
}
uint64_t unpack2_l(uint64_t r2, uint64_t r3) {
  return permuted<uint16_t, 4, 0, 5, 1>(r2, r3);
}
uint64_t unpack4_h(uint64_t r2, uint64_t r3) {
  return permuted<uint32_t, 3, 1>(r2, r3);
}
uint64_t unpack4_l(uint64_t r2, uint64_t r3) {
  return permuted<uint32_t, 2, 0>(r2, r3);
}

namespace {

template <typename From, typename To>
uint64_t packed(uint64_t r2, uint64_t r3) {
  using Bits = std::make_unsigned_t<To>;
  const Elements<From> a = split<From>(r2), b = split<From>(r3);
  Elements<Bits> result;
  for (size_t i = 0; i < a.size(); ++i) {
    result[i] = static_cast<Bits>(saturated<To>(a[i]));
    result[i + a.size()] = static_cast<Bits>(saturated<To>(b[i]));
  }
  return std::bit_cast<uint64_t>(result);
}

}  // namespace

uint64_t pack2_sss(uint64_t r2, uint64_t r3) {
  return packed<int16_t, int8_t>(r2, r3);
}
uint64_t pack2_uss(uint64_t r2, uint64_t r3) {
  return packed<int16_t, uint8_t>(r2, r3);
}
uint64_t pack4_sss(uint64_t r2, uint64_t r3) {
  return packed<int32_t, int16_t>(r2, r3);
}

}  // namespace respike::emulator::ia64
