#pragma once
// Internal to the floating-point library: frcpa and frsqrta for registers and for lanes.

#include "emulators/ia64/floating_core.h"

namespace respike::emulator::ia64 {

struct Approximation {
  Outcome outcome;
  bool refine = false;
};

Approximation reciprocal(const FloatingRegister& f2, const FloatingRegister& f3,
                         const Control& control);
Approximation reciprocal_root(const FloatingRegister& f3, const Control& control);

/// For operands in the range of single precision, from from_single(); results are also in that
/// range.
Approximation lane_reciprocal(const FloatingRegister& f2, const FloatingRegister& f3);
Approximation lane_reciprocal_root(const FloatingRegister& f3);

}  // namespace respike::emulator::ia64
