// Integer and parallel instructions of IA-64 against the manual's text, written out element by
// element with wide integers and shifts. Operands are biased to bounds; all pairs of bytes are
// tested.

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "emulators/ia64/integer_arithmetic.h"
#include "tests/unit/ia64_floating_testing.h"

namespace respike::test {
namespace {

using Wide = __int128;

/// Element i of `bits` bits, zero-extended and sign-extended.
Wide u(uint64_t x, int bits, int i) {
  return x >> (bits * i) & ((Wide{1} << bits) - 1);
}
Wide s(uint64_t x, int bits, int i) {
  const Wide v = u(x, bits, i);
  return v >> (bits - 1) ? v - (Wide{1} << bits) : v;
}

/// f(i) for each element, cut to the size of the element.
template <typename F>
uint64_t each(int bits, F f) {
  uint64_t result = 0;
  for (int i = 0; i < 64 / bits; ++i)
    result |= static_cast<uint64_t>(Wide{f(i)} & ((Wide{1} << bits) - 1)) << (bits * i);
  return result;
}

Wide clamp(Wide v, Wide low, Wide high) {
  return v < low ? low : v > high ? high : v;
}
Wide clamp_signed(Wide v, int bits) {
  return clamp(v, -(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1);
}
Wide clamp_unsigned(Wide v, int bits) {
  return clamp(v, 0, (Wide{1} << bits) - 1);
}

/// The manual's concatenate(); elements come from the left.
uint64_t concatenate(int bits, std::initializer_list<Wide> elements) {
  uint64_t result = 0;
  for (const Wide e : elements)
    result = (bits == 64 ? 0 : result << bits) | static_cast<uint64_t>(e);
  return result;
}

uint64_t operand(Operands& operands) {
  switch (operands.below(4)) {
    case 0:
      return operands.bits();
    case 1: {  // bounds of elements of 16 bits
      constexpr uint16_t kBounds[] = {0,     1,      0x7f,   0x80,   0xff,
                                      0x100, 0x7fff, 0x8000, 0xffff, 0x8001};
      uint64_t x = 0;
      for (int i = 0; i < 4; ++i) x = x << 16 | kBounds[operands.below(10)];
      return x;
    }
    case 2:
      return operands.bits() & operands.bits() & operands.bits();
    default:
      return operands.bits() >> operands.below(64);
  }
}

/// Checks all pairs of bytes, then many more operands.
template <typename Check>
void for_operands(uint64_t seed, Check check) {
  for (uint64_t a = 0; a < 256; ++a) {
    for (uint64_t b = 0; b < 256; b += 8) {
      check(a * 0x0101010101010101, b * 0x0101010101010101 + 0x0706050403020100);
      if (testing::Test::HasFailure()) return;
    }
  }
  Operands operands(seed);
  for (int i = 0; i < operands_per_operation(100000) && !testing::Test::HasFailure(); ++i) {
    const uint64_t a = operand(operands);
    check(a, operands.below(8) ? operand(operands) : a);
  }
}

#define EXPECT_SAME(actual, expected) \
  EXPECT_EQ(actual, expected) << std::hex << "r2 " << x << " r3 " << y

TEST(Ia64Integer, AddAndSubtract) {
  for_operands(80, [](uint64_t x, uint64_t y) {
    const auto check = [&](int bits, auto add, auto subtract) {
      using enum Saturation;
      EXPECT_SAME(add(x, y, modulo),
                  each(bits, [&](int i) { return u(x, bits, i) + u(y, bits, i); }));
      EXPECT_SAME(add(x, y, sss), each(bits, [&](int i) {
                    return clamp_signed(s(x, bits, i) + s(y, bits, i), bits);
                  }));
      EXPECT_SAME(add(x, y, uuu), each(bits, [&](int i) {
                    return clamp_unsigned(u(x, bits, i) + u(y, bits, i), bits);
                  }));
      EXPECT_SAME(add(x, y, uus), each(bits, [&](int i) {
                    return clamp_unsigned(u(x, bits, i) + s(y, bits, i), bits);
                  }));
      EXPECT_SAME(subtract(x, y, modulo),
                  each(bits, [&](int i) { return u(x, bits, i) - u(y, bits, i); }));
      EXPECT_SAME(subtract(x, y, sss), each(bits, [&](int i) {
                    return clamp_signed(s(x, bits, i) - s(y, bits, i), bits);
                  }));
      EXPECT_SAME(subtract(x, y, uuu), each(bits, [&](int i) {
                    return clamp_unsigned(u(x, bits, i) - u(y, bits, i), bits);
                  }));
      EXPECT_SAME(subtract(x, y, uus), each(bits, [&](int i) {
                    return clamp_unsigned(u(x, bits, i) - s(y, bits, i), bits);
                  }));
    };
    check(8, padd1, psub1);
    check(16, padd2, psub2);
    EXPECT_SAME(padd4(x, y), each(32, [&](int i) { return u(x, 32, i) + u(y, 32, i); }));
    EXPECT_SAME(psub4(x, y), each(32, [&](int i) { return u(x, 32, i) - u(y, 32, i); }));
  });
}

TEST(Ia64Integer, Averages) {
  for_operands(81, [](uint64_t x, uint64_t y) {
    const auto check = [&](int bits, auto average, auto difference) {
      // The sum with its carry, shifted right; the last bit is 1 if one of the sum's last two is.
      EXPECT_SAME(average(x, y, false), each(bits, [&](int i) {
                    const Wide sum = u(x, bits, i) + u(y, bits, i);
                    return sum / 2 | ((sum & 3) != 0);
                  }));
      EXPECT_SAME(average(x, y, true),
                  each(bits, [&](int i) { return (u(x, bits, i) + u(y, bits, i) + 1) / 2; }));
      // The same for the difference, where the borrow is shifted in.
      EXPECT_SAME(difference(x, y), each(bits, [&](int i) {
                    const Wide modulus = Wide{1} << (bits + 1);
                    const Wide d = (u(x, bits, i) - u(y, bits, i) + modulus) % modulus;
                    return d / 2 | ((d & 3) != 0);
                  }));
    };
    check(8, pavg1, pavgsub1);
    check(16, pavg2, pavgsub2);
  });
}

TEST(Ia64Integer, CompareMinimumMaximum) {
  for_operands(82, [](uint64_t x, uint64_t y) {
    const auto check = [&](int bits, auto equal, auto greater) {
      EXPECT_SAME(equal(x, y),
                  each(bits, [&](int i) { return u(x, bits, i) == u(y, bits, i) ? -1 : 0; }));
      EXPECT_SAME(greater(x, y),
                  each(bits, [&](int i) { return s(x, bits, i) > s(y, bits, i) ? -1 : 0; }));
    };
    check(8, pcmp1_eq, pcmp1_gt);
    check(16, pcmp2_eq, pcmp2_gt);
    check(32, pcmp4_eq, pcmp4_gt);
    EXPECT_SAME(pmax1_u(x, y),
                each(8, [&](int i) { return u(x, 8, i) > u(y, 8, i) ? u(x, 8, i) : u(y, 8, i); }));
    EXPECT_SAME(pmin1_u(x, y),
                each(8, [&](int i) { return u(x, 8, i) < u(y, 8, i) ? u(x, 8, i) : u(y, 8, i); }));
    EXPECT_SAME(pmax2(x, y), each(16, [&](int i) {
                  return s(x, 16, i) > s(y, 16, i) ? s(x, 16, i) : s(y, 16, i);
                }));
    EXPECT_SAME(pmin2(x, y), each(16, [&](int i) {
                  return s(x, 16, i) < s(y, 16, i) ? s(x, 16, i) : s(y, 16, i);
                }));
    Wide sum = 0;
    for (int i = 0; i < 8; ++i) {
      const Wide difference = u(x, 8, i) - u(y, 8, i);
      sum += difference < 0 ? -difference : difference;
    }
    EXPECT_SAME(psad1(x, y), static_cast<uint64_t>(sum));
  });
}

TEST(Ia64Integer, Products) {
  for_operands(83, [](uint64_t x, uint64_t y) {
    EXPECT_SAME(pmpy2_r(x, y), each(32, [&](int i) { return s(x, 16, 2 * i) * s(y, 16, 2 * i); }));
    EXPECT_SAME(pmpy2_l(x, y),
                each(32, [&](int i) { return s(x, 16, 2 * i + 1) * s(y, 16, 2 * i + 1); }));
    for (unsigned count : {0u, 7u, 15u, 16u}) {
      EXPECT_SAME(pmpyshr2(x, y, count),
                  each(16, [&](int i) { return s(x, 16, i) * s(y, 16, i) >> count; }));
      EXPECT_SAME(pmpyshr2_u(x, y, count),
                  each(16, [&](int i) { return u(x, 16, i) * u(y, 16, i) >> count; }));
    }
    EXPECT_SAME(mpy4(x, y), static_cast<uint64_t>(u(x, 32, 0) * u(y, 32, 0)));
    EXPECT_SAME(mpyshl4(x, y), static_cast<uint64_t>(u(x, 32, 1) * u(y, 32, 0) << 32));
  });
}

TEST(Ia64Integer, ParallelShifts) {
  Operands counts(84);
  for_operands(85, [&counts](uint64_t x, uint64_t y) {
    const uint64_t count =
        counts.below(4) ? static_cast<uint64_t>(counts.below(40)) : counts.bits();
    const int n = static_cast<int>(std::min<uint64_t>(count, 64));
    const auto check = [&](int bits, auto left, auto right, auto right_unsigned) {
      EXPECT_SAME(left(x, count), each(bits, [&](int i) { return u(x, bits, i) << n; })) << count;
      EXPECT_SAME(right(x, count), each(bits, [&](int i) { return s(x, bits, i) >> n; })) << count;
      EXPECT_SAME(right_unsigned(x, count), each(bits, [&](int i) { return u(x, bits, i) >> n; }));
    };
    check(16, pshl2, pshr2, pshr2_u);
    check(32, pshl4, pshr4, pshr4_u);
    for (unsigned k = 1; k <= 3; ++k) {
      // If the shift saturates, its result is final; else the sum saturates.
      EXPECT_SAME(pshladd2(x, k, y), each(16, [&](int i) {
                    const Wide shifted = s(x, 16, i) << k;
                    if (shifted != clamp_signed(shifted, 16)) return clamp_signed(shifted, 16);
                    return clamp_signed(shifted + s(y, 16, i), 16);
                  }));
      EXPECT_SAME(pshradd2(x, k, y), each(16, [&](int i) {
                    return clamp_signed((s(x, 16, i) >> k) + s(y, 16, i), 16);
                  }));
    }
  });
}

TEST(Ia64Integer, Rearrangement) {
  for_operands(86, [](uint64_t x, uint64_t y) {
    std::array<Wide, 8> a, b;
    for (int i = 0; i < 8; ++i) a[i] = u(x, 8, i), b[i] = u(y, 8, i);
    EXPECT_SAME(mux1(x, Mux1::rev),
                concatenate(8, {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]}));
    EXPECT_SAME(mux1(x, Mux1::mix),
                concatenate(8, {a[7], a[3], a[5], a[1], a[6], a[2], a[4], a[0]}));
    EXPECT_SAME(mux1(x, Mux1::shuf),
                concatenate(8, {a[7], a[3], a[6], a[2], a[5], a[1], a[4], a[0]}));
    EXPECT_SAME(mux1(x, Mux1::alt),
                concatenate(8, {a[7], a[5], a[3], a[1], a[6], a[4], a[2], a[0]}));
    EXPECT_SAME(mux1(x, Mux1::brcst),
                concatenate(8, {a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0]}));
    EXPECT_SAME(mix1_l(x, y), concatenate(8, {a[7], b[7], a[5], b[5], a[3], b[3], a[1], b[1]}));
    EXPECT_SAME(mix1_r(x, y), concatenate(8, {a[6], b[6], a[4], b[4], a[2], b[2], a[0], b[0]}));
    EXPECT_SAME(unpack1_h(x, y), concatenate(8, {a[7], b[7], a[6], b[6], a[5], b[5], a[4], b[4]}));
    EXPECT_SAME(unpack1_l(x, y), concatenate(8, {a[3], b[3], a[2], b[2], a[1], b[1], a[0], b[0]}));
    for (int i = 0; i < 4; ++i) a[i] = u(x, 16, i), b[i] = u(y, 16, i);
    EXPECT_SAME(mix2_l(x, y), concatenate(16, {a[3], b[3], a[1], b[1]}));
    EXPECT_SAME(mix2_r(x, y), concatenate(16, {a[2], b[2], a[0], b[0]}));
    EXPECT_SAME(unpack2_h(x, y), concatenate(16, {a[3], b[3], a[2], b[2]}));
    EXPECT_SAME(unpack2_l(x, y), concatenate(16, {a[1], b[1], a[0], b[0]}));
    const unsigned order = y & 0xff;
    EXPECT_SAME(mux2(x, order), concatenate(16, {a[order >> 6 & 3], a[order >> 4 & 3],
                                                 a[order >> 2 & 3], a[order & 3]}));
    const Wide xh = u(x, 32, 1), xl = u(x, 32, 0), yh = u(y, 32, 1), yl = u(y, 32, 0);
    EXPECT_SAME(mix4_l(x, y), concatenate(32, {xh, yh}));
    EXPECT_SAME(mix4_r(x, y), concatenate(32, {xl, yl}));
    EXPECT_SAME(unpack4_h(x, y), concatenate(32, {xh, yh}));
    EXPECT_SAME(unpack4_l(x, y), concatenate(32, {xl, yl}));
  });
}

TEST(Ia64Integer, Packs) {
  for_operands(87, [](uint64_t x, uint64_t y) {
    EXPECT_SAME(pack2_sss(x, y), each(8, [&](int i) {
                  return clamp_signed(i < 4 ? s(x, 16, i) : s(y, 16, i - 4), 8);
                }));
    EXPECT_SAME(pack2_uss(x, y), each(8, [&](int i) {
                  return clamp_unsigned(i < 4 ? s(x, 16, i) : s(y, 16, i - 4), 8);
                }));
    EXPECT_SAME(pack4_sss(x, y), each(16, [&](int i) {
                  return clamp_signed(i < 2 ? s(x, 32, i) : s(y, 32, i - 2), 16);
                }));
  });
}

TEST(Ia64Integer, Shifts) {
  Operands counts(88);
  for_operands(89, [&counts](uint64_t x, uint64_t y) {
    const unsigned position = static_cast<unsigned>(counts.below(64));
    const unsigned length = 1 + static_cast<unsigned>(counts.below(64));
    const uint64_t count = counts.below(2) ? position : counts.bits() >> counts.below(64);
    const auto bit = [](uint64_t v, unsigned i) { return v >> i & 1; };
    uint64_t field = 0, deposited = y, pair = 0;
    unsigned last = 0;
    for (unsigned i = 0; i < length && position + i < 64; ++i) {
      field |= bit(x, position + i) << i;
      deposited &= ~(uint64_t{1} << (position + i));
      deposited |= bit(x, i) << (position + i);
      last = i;
    }
    EXPECT_SAME(extr_u(x, position, length), field) << position << " " << length;
    const uint64_t ones = last == 63 ? 0 : ~uint64_t{0} << (last + 1);
    EXPECT_SAME(extr(x, position, length), bit(field, last) ? field | ones : field);
    EXPECT_SAME(dep(x, y, position, length), deposited) << position << " " << length;
    for (unsigned i = 0; i < 64; ++i)
      pair |= (position + i < 64 ? bit(y, position + i) : bit(x, position + i - 64)) << i;
    EXPECT_SAME(shrp(x, y, position), pair);
    const Wide factor = Wide{1} << std::min<uint64_t>(count, 64);
    EXPECT_SAME(shl(x, count), static_cast<uint64_t>(static_cast<unsigned __int128>(x) * factor));
    EXPECT_SAME(shr_u(x, count), static_cast<uint64_t>(x / factor));
    const Wide v = s(x, 64, 0);
    EXPECT_SAME(shr(x, count),
                static_cast<uint64_t>(v < 0 ? -((-v + factor - 1) / factor) : v / factor));
  });
}

TEST(Ia64Integer, General) {
  for_operands(90, [](uint64_t x, uint64_t y) {
    for (unsigned count = 0; count <= 4; ++count) {
      EXPECT_SAME(shladd(x, count, y), x * (uint64_t{1} << count) + y);
      // Bits 31:0 the sum, 60:32 zero, 62:61 bits 31:30 of r3, 63 zero.
      const uint64_t sum = (x * (uint64_t{1} << count) + y) & 0xffffffff;
      EXPECT_SAME(addp4(x, y, count), sum | (y & 0xc0000000) << 31);
    }
    uint64_t ones = 0, zeros = 0;
    for (int i = 0; i < 64; ++i) ones += x >> i & 1;
    while (zeros < 64 && !(x >> (63 - zeros) & 1)) ++zeros;
    EXPECT_SAME(popcnt(x), ones);
    EXPECT_SAME(clz(x), zeros);
    const auto first_zero = [](uint64_t v, int bits, bool from_left) {
      const int n = 64 / bits;
      for (int i = 0; i < n; ++i)
        if (u(v, bits, from_left ? n - 1 - i : i) == 0) return static_cast<uint64_t>(i);
      return static_cast<uint64_t>(n);
    };
    for (const uint64_t v : {x, y, x & y, x | y}) {
      EXPECT_SAME(czx1_l(v), first_zero(v, 8, true));
      EXPECT_SAME(czx1_r(v), first_zero(v, 8, false));
      EXPECT_SAME(czx2_l(v), first_zero(v, 16, true));
      EXPECT_SAME(czx2_r(v), first_zero(v, 16, false));
    }
    EXPECT_SAME(sxt1(x), static_cast<uint64_t>(s(x, 8, 0)));
    EXPECT_SAME(sxt2(x), static_cast<uint64_t>(s(x, 16, 0)));
    EXPECT_SAME(sxt4(x), static_cast<uint64_t>(s(x, 32, 0)));
    EXPECT_SAME(zxt1(x), static_cast<uint64_t>(u(x, 8, 0)));
    EXPECT_SAME(zxt2(x), static_cast<uint64_t>(u(x, 16, 0)));
    EXPECT_SAME(zxt4(x), static_cast<uint64_t>(u(x, 32, 0)));
  });
}

}  // namespace
}  // namespace respike::test
