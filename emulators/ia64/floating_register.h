#pragma once
// The contents of a floating-point register, and all functions that only move bits in and out of
// it.
//
// A register holds 82 bits: a significand of 64 bits with an explicit integer bit (63), an exponent
// of 17 bits biased by 65535, and a sign. Integers and pairs of single-precision numbers
// ("parallel") live in the significand; their canonical form has exponent kIntegerExponent and sign
// 0. All encodings may be operands. Nothing here signals exceptions or reads the status register.
//
// Unless a comment says otherwise, the functions here give NaTVal if an operand is NaTVal.
//
// Source: Intel Itanium Architecture Software Developer's Manual (SDM) revision 2.3, volume 1,
// sections 5.1 (formats) and 5.3.1 (memory), volume 3 for each instruction.

#include <bit>
#include <cstdint>

namespace respike::emulator::ia64 {

inline constexpr uint32_t kExponentMask = 0x1ffff;
inline constexpr uint32_t kSignBit = 1u << 17;
inline constexpr uint32_t kExponentBias = 0xffff;
inline constexpr uint32_t kInfinityExponent = 0x1ffff;  // infinities and NaNs
inline constexpr uint32_t kNatExponent = 0x1fffe;
inline constexpr uint32_t kIntegerExponent = 0x1003e;
inline constexpr uint64_t kIntegerBit = uint64_t{1} << 63;
inline constexpr uint64_t kQuietBit = uint64_t{1} << 62;

/// The words are those of stf.spill and ldf.fill, in this order (SDM 1, figure 5-8).
struct FloatingRegister {
  uint64_t significand = 0;
  uint64_t sign_exponent = 0;  // exponent in bits 16:0, sign in bit 17, zeros above

  constexpr uint32_t exponent() const { return sign_exponent & kExponentMask; }
  constexpr bool sign() const { return sign_exponent & kSignBit; }
  constexpr bool operator==(const FloatingRegister&) const = default;

  static constexpr FloatingRegister of(bool sign, uint32_t exponent, uint64_t significand) {
    return {significand, (sign ? kSignBit : 0) | exponent};
  }
};

inline constexpr FloatingRegister kZero = {};                           // f0
inline constexpr FloatingRegister kOne = {kIntegerBit, kExponentBias};  // f1
inline constexpr FloatingRegister kNatVal = {0, kNatExponent};
inline constexpr FloatingRegister kInfinity = {kIntegerBit, kInfinityExponent};
inline constexpr FloatingRegister kIndefinite = {kIntegerBit | kQuietBit,  // default QNaN
                                                 kSignBit | kInfinityExponent};

constexpr bool is_nat(const FloatingRegister& f) {
  return f == kNatVal;
}

/// setf.sig, ldf8 and ldfp8; the form of all results that are integers or parallel.
constexpr FloatingRegister from_integer(uint64_t value) {
  return {value, kIntegerExponent};
}

// --- memory formats -------------------------------------------------------------------------

/// ldfs, ldfps and setf.s; ldfd, ldfpd and setf.d. Denormals keep their unnormal significand with
/// the smallest exponent of the format, signalling NaNs stay signalling.
FloatingRegister from_single(uint32_t bits);
FloatingRegister from_double(uint64_t bits);
/// ldfe: `low` is bytes 0-7, `high` bytes 8-9 (sign and exponent).
FloatingRegister from_extended(uint64_t low, uint16_t high);
/// setf.exp: sign and exponent from bits 17:0, significand 1.0.
constexpr FloatingRegister from_exponent(uint64_t bits) {
  return {kIntegerBit, bits & (kSignBit | kExponentMask)};
}
/// ldf.fill: bits above 17 of the second word are ignored.
constexpr FloatingRegister from_spill(uint64_t low, uint64_t high) {
  return {low, high & (kSignBit | kExponentMask)};
}

/// stfs and getf.s; stfd and getf.d: bits are dropped, not rounded. The caller handles NaTVal:
/// stores fault on NaTVal, getf sets the NaT bit of its target.
uint32_t to_single(const FloatingRegister& f);
uint64_t to_double(const FloatingRegister& f);
/// stfe: the upper two of the ten bytes; the lower eight are the significand.
uint16_t to_extended_high(const FloatingRegister& f);
/// getf.exp. getf.sig and stf8 are f.significand; stf.spill is both words of the structure.
constexpr uint64_t to_exponent(const FloatingRegister& f) {
  return f.sign_exponent;
}

/// The lanes of a parallel operand in register format: the right lane is bits 31:0.
inline FloatingRegister right_lane(const FloatingRegister& f) {
  return from_single(static_cast<uint32_t>(f.significand));
}
inline FloatingRegister left_lane(const FloatingRegister& f) {
  return from_single(static_cast<uint32_t>(f.significand >> 32));
}

// --- classes --------------------------------------------------------------------------------

/// Bits of fclass's immediate fclass9 (SDM 3, fclass).
enum FloatingClass : uint32_t {
  kClassPositive = 0x001,
  kClassNegative = 0x002,
  kClassZero = 0x004,
  kClassUnnormal = 0x008,
  kClassNormal = 0x010,
  kClassInfinity = 0x020,
  kClassSignalingNan = 0x040,
  kClassQuietNan = 0x080,
  kClassNat = 0x100,
};

/// Whether the operand is in one of the classes. If the operand is NaTVal and `classes` lacks
/// kClassNat, fclass clears both target predicates instead: the caller has to check for this.
bool fclass(const FloatingRegister& f, uint32_t classes);

/// Infinities and NaNs without integer bit.
constexpr bool is_unsupported(const FloatingRegister& f) {
  return f.exponent() == kInfinityExponent && !(f.significand & kIntegerBit);
}
constexpr bool is_infinity(const FloatingRegister& f) {
  return f.exponent() == kInfinityExponent && f.significand == kIntegerBit;
}
constexpr bool is_nan(const FloatingRegister& f) {
  return f.exponent() == kInfinityExponent && f.significand > kIntegerBit;
}
constexpr bool is_signaling_nan(const FloatingRegister& f) {
  return is_nan(f) && !(f.significand & kQuietBit);
}
constexpr bool is_zero(const FloatingRegister& f) {
  return f.exponent() == 0 && f.significand == 0;
}
/// Denormals, unnormals and pseudo-zeros, which raise the denormal/unnormal operand fault.
constexpr bool is_unnormal(const FloatingRegister& f) {
  if (f.exponent() == 0) return f.significand != 0;
  return f.exponent() != kInfinityExponent && !(f.significand & kIntegerBit) && !is_nat(f);
}

// --- moving and merging ---------------------------------------------------------------------

/// fmerge.s, fmerge.ns, fmerge.se f1 = f2, f3 (fabs, fneg, fnegabs and mov are pseudo-operations of
/// the first two).
FloatingRegister fmerge_s(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fmerge_ns(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fmerge_se(const FloatingRegister& f2, const FloatingRegister& f3);

/// fmix.l, .r, .lr; fsxt.l, .r; fswap and its .nl, .nr; fpack; all f1 = f2, f3.
FloatingRegister fmix_l(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fmix_r(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fmix_lr(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fsxt_l(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fsxt_r(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fswap(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fswap_nl(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fswap_nr(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fpack(const FloatingRegister& f2, const FloatingRegister& f3);

/// fand, fandcm, for, fxor f1 = f2, f3; fselect f1 = f3, f4, f2: f3 where f2 has ones, else f4.
FloatingRegister fand(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fandcm(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister f_or(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fxor(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fselect(const FloatingRegister& f3, const FloatingRegister& f4,
                         const FloatingRegister& f2);

/// fpmerge.s, .ns, .se on both lanes (fpabs, fpneg, fpnegabs are pseudo-operations).
FloatingRegister fpmerge_s(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fpmerge_ns(const FloatingRegister& f2, const FloatingRegister& f3);
FloatingRegister fpmerge_se(const FloatingRegister& f2, const FloatingRegister& f3);

// --- integers in significands ---------------------------------------------------------------

/// fcvt.xf: the signed integer in the significand as a normal number, always exact.
FloatingRegister fcvt_xf(const FloatingRegister& f2);

/// xma.l, .h, .hu f1 = f3, f4, f2: low or high half of f3 * f4 + f2; f2 is unsigned in all three.
FloatingRegister xma_l(const FloatingRegister& f3, const FloatingRegister& f4,
                       const FloatingRegister& f2);
FloatingRegister xma_h(const FloatingRegister& f3, const FloatingRegister& f4,
                       const FloatingRegister& f2);
FloatingRegister xma_hu(const FloatingRegister& f3, const FloatingRegister& f4,
                        const FloatingRegister& f2);

}  // namespace respike::emulator::ia64
