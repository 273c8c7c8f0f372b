// Parallel floating-point: each lane goes to the register format, through the scalar arithmetic
// with single precision as its format, and back.
//
// Both conversions are exact: single-precision numbers have a register form, and results that are
// rounded to single precision have a single form. Only enabled overflow and underflow traps deliver
// exponents outside single precision; these are taken modulo 2^8 (SDM 1, section 5.4.2). A NaN from
// an operand keeps its 23 bits.
//
// Both lanes are computed before anything is written, since a fault in one lane also leaves the
// other lane unwritten.

#include "emulators/ia64/floating_parallel.h"

#include "emulators/ia64/floating_approximation.h"
#include "emulators/ia64/floating_core.h"

namespace respike::emulator::ia64 {

namespace {

struct Lanes {
  FloatingRegister left, right;

  explicit Lanes(const FloatingRegister& f) : left(left_lane(f)), right(right_lane(f)) {}
};

/// A lane's bits, and the exceptions that the lane raised.
struct LaneResult {
  uint32_t bits;
  uint32_t flags;
  bool away;
};

LaneResult packed(const Outcome& o, uint32_t enabled) {
  uint32_t bits = to_single(o.value);
  if (o.flags & enabled & (kOverflow | kUnderflow))
    bits = (bits & 0x807fffff) | ((o.value.exponent() + 127 - kExponentBias) & 0xff) << 23;
  return {bits, o.flags, o.away};
}

FloatingInterruption finish_lanes(FloatingRegister& result, const LaneResult& left,
                                  const LaneResult& right, unsigned sf, uint64_t& fpsr,
                                  uint32_t enabled) {
  const uint32_t fault = fault_code(left.flags, enabled) | fault_code(right.flags, enabled) << 4;
  if (fault) return fault;
  result = from_integer(static_cast<uint64_t>(left.bits) << 32 | right.bits);
  raise_flags(fpsr, sf, left.flags | right.flags);
  const uint32_t trap =
      trap_code(left.flags, left.away, enabled) | trap_code(right.flags, right.away, enabled) >> 4;
  return trap ? kFloatingTrap | trap : 0;
}

FloatingInterruption finish_lanes(FloatingRegister& result, const Outcome& left,
                                  const Outcome& right, unsigned sf, uint64_t& fpsr,
                                  uint32_t enabled) {
  return finish_lanes(result, packed(left, enabled), packed(right, enabled), sf, fpsr, enabled);
}

FloatingInterruption nat_result(FloatingRegister& result) {
  result = kNatVal;
  return 0;
}

FloatingInterruption multiply_add_lanes(FloatingRegister& result, unsigned sf,
                                        const FloatingRegister& f3, const FloatingRegister& f4,
                                        const FloatingRegister& f2, bool negate_product,
                                        bool negate_addend, uint64_t& fpsr) {
  if (is_nat(f2) || is_nat(f3) || is_nat(f4)) return nat_result(result);
  const Control control(kSingleFormat, fpsr, sf);
  const Lanes a(f3), b(f4), c(f2);
  return finish_lanes(
      result, multiply_add(a.left, b.left, c.left, negate_product, negate_addend, control),
      multiply_add(a.right, b.right, c.right, negate_product, negate_addend, control), sf, fpsr,
      control.enabled);
}

FloatingInterruption multiply_lanes(FloatingRegister& result, unsigned sf,
                                    const FloatingRegister& f3, const FloatingRegister& f4,
                                    bool negate, uint64_t& fpsr) {
  if (is_nat(f3) || is_nat(f4)) return nat_result(result);
  const Control control(kSingleFormat, fpsr, sf);
  const Lanes a(f3), b(f4);
  return finish_lanes(result, multiply(a.left, b.left, negate, control),
                      multiply(a.right, b.right, negate, control), sf, fpsr, control.enabled);
}

FloatingInterruption select_lanes(FloatingRegister& result, Extremum which, unsigned sf,
                                  const FloatingRegister& f2, const FloatingRegister& f3,
                                  uint64_t& fpsr) {
  if (is_nat(f2) || is_nat(f3)) return nat_result(result);
  const Lanes a(f2), b(f3);
  return finish_lanes(result, select(which, a.left, b.left), select(which, a.right, b.right), sf,
                      fpsr, enabled_exceptions(fpsr, sf));
}

}  // namespace

FloatingInterruption fpma(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                          const FloatingRegister& f4, const FloatingRegister& f2, uint64_t& fpsr) {
  return multiply_add_lanes(result, sf, f3, f4, f2, false, false, fpsr);
}

FloatingInterruption fpms(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                          const FloatingRegister& f4, const FloatingRegister& f2, uint64_t& fpsr) {
  return multiply_add_lanes(result, sf, f3, f4, f2, false, true, fpsr);
}

FloatingInterruption fpnma(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                           const FloatingRegister& f4, const FloatingRegister& f2, uint64_t& fpsr) {
  return multiply_add_lanes(result, sf, f3, f4, f2, true, false, fpsr);
}

FloatingInterruption fpmpy(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                           const FloatingRegister& f4, uint64_t& fpsr) {
  return multiply_lanes(result, sf, f3, f4, false, fpsr);
}

FloatingInterruption fpnmpy(FloatingRegister& result, unsigned sf, const FloatingRegister& f3,
                            const FloatingRegister& f4, uint64_t& fpsr) {
  return multiply_lanes(result, sf, f3, f4, true, fpsr);
}

FloatingInterruption fpmin(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                           const FloatingRegister& f3, uint64_t& fpsr) {
  return select_lanes(result, Extremum::min, sf, f2, f3, fpsr);
}

FloatingInterruption fpmax(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                           const FloatingRegister& f3, uint64_t& fpsr) {
  return select_lanes(result, Extremum::max, sf, f2, f3, fpsr);
}

FloatingInterruption fpamin(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                            const FloatingRegister& f3, uint64_t& fpsr) {
  return select_lanes(result, Extremum::amin, sf, f2, f3, fpsr);
}

FloatingInterruption fpamax(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                            const FloatingRegister& f3, uint64_t& fpsr) {
  return select_lanes(result, Extremum::amax, sf, f2, f3, fpsr);
}

FloatingInterruption fpcmp(FloatingRegister& result, FloatingRelation relation, unsigned sf,
                           const FloatingRegister& f2, const FloatingRegister& f3, uint64_t& fpsr) {
  if (is_nat(f2) || is_nat(f3)) return nat_result(result);
  const Lanes a(f2), b(f3);
  const Comparison left = compare(relation, a.left, b.left);
  const Comparison right = compare(relation, a.right, b.right);
  return finish_lanes(result, LaneResult{left.holds ? ~0u : 0, left.flags, false},
                      LaneResult{right.holds ? ~0u : 0, right.flags, false}, sf, fpsr,
                      enabled_exceptions(fpsr, sf));
}

FloatingInterruption fpcvt_fx(FloatingRegister& result, bool is_unsigned, bool truncate,
                              unsigned sf, const FloatingRegister& f2, uint64_t& fpsr) {
  if (is_nat(f2)) return nat_result(result);
  const Rounding rounding = truncate ? Rounding::zero : status_field(fpsr, sf).rounding();
  const Lanes a(f2);
  const Converted left = to_integer(a.left, is_unsigned, rounding, 32);
  const Converted right = to_integer(a.right, is_unsigned, rounding, 32);
  return finish_lanes(result, LaneResult{static_cast<uint32_t>(left.value), left.flags, left.away},
                      LaneResult{static_cast<uint32_t>(right.value), right.flags, right.away}, sf,
                      fpsr, enabled_exceptions(fpsr, sf));
}

FloatingInterruption fprcpa(FloatingRegister& result, bool& refine, unsigned sf,
                            const FloatingRegister& f2, const FloatingRegister& f3,
                            uint64_t& fpsr) {
  if (is_nat(f2) || is_nat(f3)) {
    refine = false;
    return nat_result(result);
  }
  const Lanes a(f2), b(f3);
  const Approximation left = lane_reciprocal(a.left, b.left);
  const Approximation right = lane_reciprocal(a.right, b.right);
  const FloatingInterruption interruption =
      finish_lanes(result, left.outcome, right.outcome, sf, fpsr, enabled_exceptions(fpsr, sf));
  if (interruption == 0) refine = left.refine && right.refine;
  return interruption;
}

FloatingInterruption fprsqrta(FloatingRegister& result, bool& refine, unsigned sf,
                              const FloatingRegister& f3, uint64_t& fpsr) {
  if (is_nat(f3)) {
    refine = false;
    return nat_result(result);
  }
  const Lanes a(f3);
  const Approximation left = lane_reciprocal_root(a.left);
  const Approximation right = lane_reciprocal_root(a.right);
  const FloatingInterruption interruption =
      finish_lanes(result, left.outcome, right.outcome, sf, fpsr, enabled_exceptions(fpsr, sf));
  if (interruption == 0) refine = left.refine && right.refine;
  return interruption;
}

}  // namespace respike::emulator::ia64
