#pragma once
// Integer instructions that take more than one operation of the host, and parallel integer
// instructions.
//
// Functions take register contents in the order of the assembler and return the target's contents.
// Functions do not handle NaT bits: no result depends on a NaT bit, and for every function of this
// file the target's NaT bit is the OR of the NaT bits of the sources (SDM 3: "r1.nat = r2.nat ||
// r3.nat").
//
// Element 0 of a parallel operand is its least significant element. Sources: SDM 3, the
// instructions' pages; for parallel instructions also SDM 1, section 4.6.

#include <bit>
#include <cstdint>

namespace respike::emulator::ia64 {

// --- general --------------------------------------------------------------------------------

/// addp4 and shladdp4 (addp4 has count 0): the low 32 bits of r2 * 2^count + r3, with bits 31:30 of
/// r3 at 62:61. An immediate of addp4 replaces r2.
constexpr uint64_t addp4(uint64_t r2, uint64_t r3, unsigned count = 0) {
  return static_cast<uint32_t>((r2 << count) + r3) | (r3 >> 30 & 3) << 61;
}
constexpr uint64_t shladd(uint64_t r2, unsigned count, uint64_t r3) {
  return (r2 << count) + r3;
}

/// shl, shr, shr.u with the count in a register: counts above 63 shift everything out.
constexpr uint64_t shl(uint64_t value, uint64_t count) {
  return count > 63 ? 0 : value << count;
}
constexpr uint64_t shr(uint64_t value, uint64_t count) {
  return static_cast<uint64_t>(static_cast<int64_t>(value) >> (count > 63 ? 63 : count));
}
constexpr uint64_t shr_u(uint64_t value, uint64_t count) {
  return count > 63 ? 0 : value >> count;
}
/// shrp r1 = r2, r3, count6: bits count+63:count of r2:r3.
constexpr uint64_t shrp(uint64_t r2, uint64_t r3, unsigned count) {
  return count == 0 ? r3 : r2 << (64 - count) | r3 >> count;
}

/// extr.u, extr: `length` is 1 to 64; a field that ends above bit 63 ends there.
constexpr uint64_t extr_u(uint64_t r3, unsigned position, unsigned length) {
  if (position + length > 64) length = 64 - position;
  return r3 << (64 - length - position) >> (64 - length);
}
constexpr uint64_t extr(uint64_t r3, unsigned position, unsigned length) {
  if (position + length > 64) length = 64 - position;
  return static_cast<uint64_t>(static_cast<int64_t>(r3 << (64 - length - position)) >>
                               (64 - length));
}
/// dep r1 = r2, r3, position, length: puts the low bits of r2 into r3; dep.z has 0 as r3. Bits
/// above bit 63 are dropped.
constexpr uint64_t dep(uint64_t r2, uint64_t r3, unsigned position, unsigned length) {
  const uint64_t ones = length > 63 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
  const uint64_t mask = ones << position;
  return (r2 << position & mask) | (r3 & ~mask);
}

constexpr uint64_t sxt1(uint64_t v) {
  return static_cast<uint64_t>(static_cast<int8_t>(v));
}
constexpr uint64_t sxt2(uint64_t v) {
  return static_cast<uint64_t>(static_cast<int16_t>(v));
}
constexpr uint64_t sxt4(uint64_t v) {
  return static_cast<uint64_t>(static_cast<int32_t>(v));
}
constexpr uint64_t zxt1(uint64_t v) {
  return static_cast<uint8_t>(v);
}
constexpr uint64_t zxt2(uint64_t v) {
  return static_cast<uint16_t>(v);
}
constexpr uint64_t zxt4(uint64_t v) {
  return static_cast<uint32_t>(v);
}

constexpr uint64_t popcnt(uint64_t v) {
  return static_cast<uint64_t>(std::popcount(v));
}
constexpr uint64_t clz(uint64_t v) {
  return static_cast<uint64_t>(std::countl_zero(v));
}

/// czx1.l, .r, czx2.l, .r: the index of the first zero element, counted from the left resp. right;
/// 8 resp. 4 if no element is zero.
uint64_t czx1_l(uint64_t r3);
uint64_t czx1_r(uint64_t r3);
uint64_t czx2_l(uint64_t r3);
uint64_t czx2_r(uint64_t r3);

/// mpy4: unsigned 32 by 32 bits; mpyshl4: high half of r2 times low half of r3, shifted left by 32.
constexpr uint64_t mpy4(uint64_t r2, uint64_t r3) {
  return zxt4(r2) * zxt4(r3);
}
constexpr uint64_t mpyshl4(uint64_t r2, uint64_t r3) {
  return (r2 >> 32) * zxt4(r3) << 32;
}

// --- parallel arithmetic --------------------------------------------------------------------

/// The completers of padd and psub: none, .sss, .uuu, .uus (r2 unsigned, r3 signed, result
/// unsigned).
enum class Saturation : uint8_t { modulo, sss, uuu, uus };

uint64_t padd1(uint64_t r2, uint64_t r3, Saturation saturation);
uint64_t padd2(uint64_t r2, uint64_t r3, Saturation saturation);
uint64_t padd4(uint64_t r2, uint64_t r3);
uint64_t psub1(uint64_t r2, uint64_t r3, Saturation saturation);
uint64_t psub2(uint64_t r2, uint64_t r3, Saturation saturation);
uint64_t psub4(uint64_t r2, uint64_t r3);

/// pavg, with and without .raz, and pavgsub.
uint64_t pavg1(uint64_t r2, uint64_t r3, bool round_away_from_zero);
uint64_t pavg2(uint64_t r2, uint64_t r3, bool round_away_from_zero);
uint64_t pavgsub1(uint64_t r2, uint64_t r3);
uint64_t pavgsub2(uint64_t r2, uint64_t r3);

/// pcmp.eq and pcmp.gt (signed): elements become all ones if the relation holds, else zeros.
uint64_t pcmp1_eq(uint64_t r2, uint64_t r3);
uint64_t pcmp1_gt(uint64_t r2, uint64_t r3);
uint64_t pcmp2_eq(uint64_t r2, uint64_t r3);
uint64_t pcmp2_gt(uint64_t r2, uint64_t r3);
uint64_t pcmp4_eq(uint64_t r2, uint64_t r3);
uint64_t pcmp4_gt(uint64_t r2, uint64_t r3);

uint64_t pmax1_u(uint64_t r2, uint64_t r3);
uint64_t pmax2(uint64_t r2, uint64_t r3);
uint64_t pmin1_u(uint64_t r2, uint64_t r3);
uint64_t pmin2(uint64_t r2, uint64_t r3);

/// Signed products of elements 3 and 1 (.l) or 2 and 0 (.r), 32 bits each.
uint64_t pmpy2_l(uint64_t r2, uint64_t r3);
uint64_t pmpy2_r(uint64_t r2, uint64_t r3);
/// 16 bits of each 32-bit product, from bit `count` (0, 7, 15 or 16) up; .u takes unsigned
/// elements.
uint64_t pmpyshr2(uint64_t r2, uint64_t r3, unsigned count);
uint64_t pmpyshr2_u(uint64_t r2, uint64_t r3, unsigned count);
uint64_t psad1(uint64_t r2, uint64_t r3);

/// Counts are whole registers (or immediates): a count that is too large shifts everything out.
uint64_t pshl2(uint64_t r2, uint64_t count);
uint64_t pshl4(uint64_t r2, uint64_t count);
uint64_t pshr2(uint64_t r3, uint64_t count);
uint64_t pshr2_u(uint64_t r3, uint64_t count);
uint64_t pshr4(uint64_t r3, uint64_t count);
uint64_t pshr4_u(uint64_t r3, uint64_t count);
/// Shift (count 1 to 3), then add, both with signed saturation.
uint64_t pshladd2(uint64_t r2, unsigned count, uint64_t r3);
uint64_t pshradd2(uint64_t r2, unsigned count, uint64_t r3);

// --- parallel rearrangement -----------------------------------------------------------------

/// mux1's mbtype4 as encoded.
enum class Mux1 : uint8_t { brcst = 0x0, mix = 0x8, shuf = 0x9, alt = 0xa, rev = 0xb };
uint64_t mux1(uint64_t r2, Mux1 permutation);
/// Element i is element mhtype8{2i+1:2i} of r2.
uint64_t mux2(uint64_t r2, unsigned mhtype8);

uint64_t mix1_l(uint64_t r2, uint64_t r3);
uint64_t mix1_r(uint64_t r2, uint64_t r3);
uint64_t mix2_l(uint64_t r2, uint64_t r3);
uint64_t mix2_r(uint64_t r2, uint64_t r3);
uint64_t mix4_l(uint64_t r2, uint64_t r3);
uint64_t mix4_r(uint64_t r2, uint64_t r3);

uint64_t unpack1_h(uint64_t r2, uint64_t r3);
uint64_t unpack1_l(uint64_t r2, uint64_t r3);
uint64_t unpack2_h(uint64_t r2, uint64_t r3);
uint64_t unpack2_l(uint64_t r2, uint64_t r3);
uint64_t unpack4_h(uint64_t r2, uint64_t r3);
uint64_t unpack4_l(uint64_t r2, uint64_t r3);

/// pack2.sss, pack2.uss, pack4.sss: elements of r2 go right, those of r3 left, all signed sources.
uint64_t pack2_sss(uint64_t r2, uint64_t r3);
uint64_t pack2_uss(uint64_t r2, uint64_t r3);
uint64_t pack4_sss(uint64_t r2, uint64_t r3);

}  // namespace respike::emulator::ia64
