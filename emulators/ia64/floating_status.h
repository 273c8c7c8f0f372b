#pragma once
// The floating-point status register (AR40, FPSR) and what an arithmetic instruction may raise.
//
//   63      58 57        45 44        32 31        19 18         6 5         0
//   | zeros   |    sf3     |    sf2     |    sf1     |    sf0     |  traps   |
//
//   a status field:  12 i  11 u  10 o  9 z  8 d  7 v | 6 td  5:4 rc  3:2 pc  1 wre  0 ftz
//   traps:           5 id  4 ud  3 od  2 zd  1 dd  0 vd      (1: the exception is disabled)
//
// Source: SDM 1, section 5.2, figures 5-9 and 5-10, tables 5-3 to 5-6.

#include <cstdint>

namespace respike::emulator::ia64 {

/// The FPSR with which Linux starts programs: all exceptions disabled, sf0 rounds to
/// double-extended, sf1 also has the widest range (linux/arch/ia64/include/asm/fpu.h,
/// FPSR_DEFAULT).
inline constexpr uint64_t kInitialFpsr = 0x0009804c0270033f;

/// Exceptions, as bits of `traps` and of the flags of a status field.
inline constexpr uint32_t kInvalid = 1;
inline constexpr uint32_t kDenormal = 2;  // denormal or unnormal operand
inline constexpr uint32_t kZeroDivide = 4;
inline constexpr uint32_t kOverflow = 8;
inline constexpr uint32_t kUnderflow = 16;
inline constexpr uint32_t kInexact = 32;

enum class Rounding : uint8_t { nearest, down, up, zero };

/// One of the four status fields, taken out of the FPSR.
struct StatusField {
  uint32_t bits;  // 13 bits

  bool flush_to_zero() const { return bits & 1; }
  bool widest_range() const { return bits & 2; }
  unsigned precision() const { return bits >> 2 & 3; }
  Rounding rounding() const { return static_cast<Rounding>(bits >> 4 & 3); }
  bool traps_disabled() const { return bits & 0x40; }
  uint32_t flags() const { return bits >> 7; }
};

constexpr unsigned status_shift(unsigned sf) {
  return 6 + 13 * sf;
}

inline StatusField status_field(uint64_t fpsr, unsigned sf) {
  return {static_cast<uint32_t>(fpsr >> status_shift(sf)) & 0x1fff};
}

/// The exceptions that instructions with status field sf raise: none if the field's td is set.
inline uint32_t enabled_exceptions(uint64_t fpsr, unsigned sf) {
  return status_field(fpsr, sf).traps_disabled() ? 0 : ~static_cast<uint32_t>(fpsr) & 0x3f;
}

inline void raise_flags(uint64_t& fpsr, unsigned sf, uint32_t flags) {
  fpsr |= static_cast<uint64_t>(flags) << (status_shift(sf) + 7);
}

/// The end of an arithmetic instruction. 0, as nearly always: there is nothing to do. Else bits
/// 15:0 are the ISR.code of the interruption (SDM 2, section 8.3, floating-point fault and trap
/// vectors). A fault leaves registers, predicates and flags unchanged; a trap comes after all
/// changes.
///
///   fault:  3 SWA  2 Z  1 D  0 V     (scalar, or left lane), bits 7:4 the right lane's
///   trap:   14 fpa  13 I  12 U  11 O (scalar, or left lane), bits 10:7 the right lane's
///
/// Software assistance (SWA) is never requested. The signal is SIGFPE; its code follows from the
/// bits: V is FPE_FLTINV, D and Z FPE_FLTDIV, O FPE_FLTOVF, U FPE_FLTUND, I FPE_FLTRES.
using FloatingInterruption = uint32_t;
inline constexpr FloatingInterruption kFloatingTrap = 1u << 16;

/// fclrf.sf: clears the six flags.
inline uint64_t fclrf(uint64_t fpsr, unsigned sf) {
  return fpsr & ~(uint64_t{0x3f} << (status_shift(sf) + 7));
}

/// fsetc.sf amask7, omask7: controls of sf become those of sf0, changed by the masks. Returns
/// false, without a change, if the new controls are reserved (pc 1, or td in sf0): Reserved
/// Register/Field fault.
inline bool fsetc(uint64_t& fpsr, unsigned sf, unsigned amask7, unsigned omask7) {
  const uint64_t controls = ((fpsr >> status_shift(0) & amask7) | omask7) & 0x7f;
  if ((controls >> 2 & 3) == 1 || (sf == 0 && (controls & 0x40))) return false;
  fpsr = (fpsr & ~(uint64_t{0x7f} << status_shift(sf))) | controls << status_shift(sf);
  return true;
}

/// fchkf.sf: whether to branch: sf has a flag that sf0 lacks, or a flag whose exception is enabled.
inline bool fchkf(uint64_t fpsr, unsigned sf) {
  const uint32_t flags = status_field(fpsr, sf).flags();
  return flags & ~(status_field(fpsr, 0).flags() & static_cast<uint32_t>(fpsr) & 0x3f);
}

/// Whether mov to ar.fpsr may write this value: bits 63:58 and pc encodings 1, sf0.td are reserved.
inline bool valid_fpsr(uint64_t value) {
  if (value >> 58 || (value & 0x1000)) return false;
  for (unsigned sf = 0; sf < 4; ++sf)
    if (status_field(value, sf).precision() == 1) return false;
  return true;
}

}  // namespace respike::emulator::ia64
