#pragma once
// Parallel floating-point: the same operation on both single-precision numbers of a significand.
//
// Conventions are those of floating_arithmetic.h. Results are rounded to single precision: pc and
// wre of the status field are ignored, rc and ftz are used. An exception of either lane faults or
// traps the instruction; the ISR code says which lane. As parallel operands, f0 is two zeros and f1
// is -0.0 and 0.0 (SDM 1, section 5.1.3), so only the rule of f0 as addend remains: fpmpy and
// fpnmpy.
//
// Sources: SDM 1, sections 5.3 to 5.5; SDM 3, the instructions' pages.

#include "emulators/ia64/floating_arithmetic.h"

namespace respike::emulator::ia64 {

FloatingInterruption fpma(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                          const FloatingRegister& f4, const FloatingRegister& f2, uint64_t& fpsr);
FloatingInterruption fpms(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                          const FloatingRegister& f4, const FloatingRegister& f2, uint64_t& fpsr);
FloatingInterruption fpnma(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                           const FloatingRegister& f4, const FloatingRegister& f2, uint64_t& fpsr);
/// fpma and fpms, resp. fpnma, with f0 as f2.
FloatingInterruption fpmpy(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                           const FloatingRegister& f4, uint64_t& fpsr);
FloatingInterruption fpnmpy(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                            const FloatingRegister& f4, uint64_t& fpsr);

FloatingInterruption fpmin(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                           const FloatingRegister& f3, uint64_t& fpsr);
FloatingInterruption fpmax(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                           const FloatingRegister& f3, uint64_t& fpsr);
FloatingInterruption fpamin(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                            const FloatingRegister& f3, uint64_t& fpsr);
FloatingInterruption fpamax(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                            const FloatingRegister& f3, uint64_t& fpsr);

/// fpcmp: each lane becomes all ones if the relation holds, else zeros.
FloatingInterruption fpcmp(FloatingRegister& result, FloatingRelation relation, unsigned sf,
                           const FloatingRegister& f2, const FloatingRegister& f3, uint64_t& fpsr);

/// fpcvt.fx, fpcvt.fxu and their .trunc: each lane to a 32-bit integer.
FloatingInterruption fpcvt_fx(FloatingRegister& result, bool is_unsigned, bool truncate,
                              unsigned sf, const FloatingRegister& f2, uint64_t& fpsr);

/// fprcpa and fprsqrta: `refine` is p2, set if Newton's steps in single precision lead from both
/// lanes' approximations to the IEEE result.
FloatingInterruption fprcpa(FloatingRegister& result, bool& refine, unsigned sf,
                            const FloatingRegister& f2, const FloatingRegister& f3, uint64_t& fpsr);
FloatingInterruption fprsqrta(FloatingRegister& result, bool& refine, unsigned sf,
                              const FloatingRegister& f3, uint64_t& fpsr);

}  // namespace respike::emulator::ia64
