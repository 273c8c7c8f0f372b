#pragma once
// Floating-point arithmetic as instructions do it: rounded once, flags into the status field.
//
// Every function takes operands in the order of the assembler, the number of the instruction's
// status field, and the FPSR, to which the function adds flags. The function returns 0, or the
// interruption to deliver (floating_status.h); a fault leaves `result` untouched. The result may be
// one of the operands. If any operand is NaTVal, the result is NaTVal, without flags.
//
// fma with f0 as addend is IEEE multiplication, not addition of +0 (SDM 3, fma): the caller knows
// the register's number and calls fmpy. Likewise fnmpy for fnma, and fmpy for fms.
// Pseudo-operations: fadd is fma with f1 as f4, fsub is fms, fcvt.xuf is fnorm, and fnorm is fmpy
// with f1 as f4 (here fnorm is a function of its own, since it is frequent).
//
// Sources: SDM 1, sections 5.2 to 5.5; SDM 3, the instructions' pages.

#include "emulators/ia64/floating_register.h"
#include "emulators/ia64/floating_status.h"

namespace respike::emulator::ia64 {

/// The completer .s, .d or none. None means the status field's pc; wre widens exponents in all
/// three cases (SDM 1, table 5-6).
enum class Precision : uint8_t { single_precision, double_precision, dynamic };

/// f1 = f3 * f4 + f2, f3 * f4 - f2, -(f3 * f4) + f2.
FloatingInterruption fma(FloatingRegister& result, Precision precision, unsigned sf,
                         const FloatingRegister& f3, const FloatingRegister& f4,
                         const FloatingRegister& f2, uint64_t& fpsr);
FloatingInterruption fms(FloatingRegister& result, Precision precision, unsigned sf,
                         const FloatingRegister& f3, const FloatingRegister& f4,
                         const FloatingRegister& f2, uint64_t& fpsr);
FloatingInterruption fnma(FloatingRegister& result, Precision precision, unsigned sf,
                          const FloatingRegister& f3, const FloatingRegister& f4,
                          const FloatingRegister& f2, uint64_t& fpsr);
/// fma and fms, resp. fnma, if f2 is f0.
FloatingInterruption fmpy(FloatingRegister& result, Precision precision, unsigned sf,
                          const FloatingRegister& f3, const FloatingRegister& f4, uint64_t& fpsr);
FloatingInterruption fnmpy(FloatingRegister& result, Precision precision, unsigned sf,
                           const FloatingRegister& f3, const FloatingRegister& f4, uint64_t& fpsr);
/// fma f1 = f3, f1, f0.
FloatingInterruption fnorm(FloatingRegister& result, Precision precision, unsigned sf,
                           const FloatingRegister& f3, uint64_t& fpsr);

/// frel of fcmp and of fpcmp. The assembler's gt and ge are lt and le with operands exchanged. fcmp
/// encodes only the first four relations, and exchanges its predicates for the others.
enum class FloatingRelation : uint8_t { eq, lt, le, unord, neq, nlt, nle, ord };

/// Sets `holds` to whether the relation holds. If an operand is NaTVal, fcmp clears both target
/// predicates; `holds` is then false, and the caller has to check for NaTVal.
FloatingInterruption fcmp(bool& holds, FloatingRelation relation, unsigned sf,
                          const FloatingRegister& f2, const FloatingRegister& f3, uint64_t& fpsr);

FloatingInterruption fmin(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                          const FloatingRegister& f3, uint64_t& fpsr);
FloatingInterruption fmax(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                          const FloatingRegister& f3, uint64_t& fpsr);
FloatingInterruption famin(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                           const FloatingRegister& f3, uint64_t& fpsr);
FloatingInterruption famax(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                           const FloatingRegister& f3, uint64_t& fpsr);

/// fcvt.fx, fcvt.fxu and their .trunc: to a 64-bit integer in the significand.
FloatingInterruption fcvt_fx(FloatingRegister& result, bool is_unsigned, bool truncate, unsigned sf,
                             const FloatingRegister& f2, uint64_t& fpsr);

/// frcpa f1, p2 = f2, f3 and frsqrta f1, p2 = f3. `refine` is p2: true if f1 is an approximation
/// that software has to refine; false if f1 is the IEEE quotient or square root itself, or NaTVal.
FloatingInterruption frcpa(FloatingRegister& result, bool& refine, unsigned sf,
                           const FloatingRegister& f2, const FloatingRegister& f3, uint64_t& fpsr);
FloatingInterruption frsqrta(FloatingRegister& result, bool& refine, unsigned sf,
                             const FloatingRegister& f3, uint64_t& fpsr);

}  // namespace respike::emulator::ia64
