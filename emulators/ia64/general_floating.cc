// Floating-point instructions: the arithmetic function that executes each instruction.
//
// A fault or trap that the status register enables becomes SIGFPE. A trap comes after the result
// has been written, but SIGFPE reports the address of the trapping instruction, as for a fault:
// programs see no other difference between faults and traps.

#include <csignal>
#include <optional>

#include "emulators/ia64/floating_arithmetic.h"
#include "emulators/ia64/floating_parallel.h"
#include "emulators/ia64/handlers.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;
using F = FloatingRegister;

/// The code of SIGFPE for the bits of the ISR (linux/arch/ia64/kernel/traps.c, handle_fpu_swa and
/// its caller).
int signal_code(FloatingInterruption interruption) {
  if (interruption & kFloatingTrap) {
    if (interruption & 0x880) return FPE_FLTOVF;
    if (interruption & 0x1100) return FPE_FLTUND;
    return FPE_FLTRES;
  }
  if (interruption & 0x11) return FPE_FLTINV;
  if (interruption & 0x22) return FPE_FLTUND;  // denormal operand
  return FPE_FLTDIV;
}

/// The register of a field. If the field holds something else, no caller reads the register.
F& field(Cpu& cpu, uint8_t number) {
  return cpu.fr[number & 127];
}

void check(Cpu& cpu, FloatingInterruption interruption) {
  if (__builtin_expect(interruption != 0, 0)) raise_floating(cpu, interruption);
}

/// f1 = f3 * f4 + f2 and its variants; a multiplication if the addend is f0.
std::optional<FloatingInterruption> multiply_add(Cpu& cpu, const Slot& s, unsigned sf) {
  using enum Precision;
  F& result = field(cpu, s.a);
  const F &f2 = field(cpu, s.b), &f3 = field(cpu, s.c), &f4 = field(cpu, s.d);
  const bool no_addend = s.b == 0;
  const auto add = [&](Precision p) {
    return no_addend ? fmpy(result, p, sf, f3, f4, cpu.fpsr)
                     : fma(result, p, sf, f3, f4, f2, cpu.fpsr);
  };
  const auto subtract = [&](Precision p) {
    return no_addend ? fmpy(result, p, sf, f3, f4, cpu.fpsr)
                     : fms(result, p, sf, f3, f4, f2, cpu.fpsr);
  };
  const auto negative = [&](Precision p) {
    return no_addend ? fnmpy(result, p, sf, f3, f4, cpu.fpsr)
                     : fnma(result, p, sf, f3, f4, f2, cpu.fpsr);
  };
  switch (s.op) {
    case Op::fma:
      return add(dynamic);
    case Op::fma_s:
      return add(single_precision);
    case Op::fma_d:
      return add(double_precision);
    case Op::fms:
      return subtract(dynamic);
    case Op::fms_s:
      return subtract(single_precision);
    case Op::fms_d:
      return subtract(double_precision);
    case Op::fnma:
      return negative(dynamic);
    case Op::fnma_s:
      return negative(single_precision);
    case Op::fnma_d:
      return negative(double_precision);
    case Op::fpma:
      return no_addend ? fpmpy(result, sf, f3, f4, cpu.fpsr)
                       : fpma(result, sf, f3, f4, f2, cpu.fpsr);
    case Op::fpms:
      return no_addend ? fpmpy(result, sf, f3, f4, cpu.fpsr)
                       : fpms(result, sf, f3, f4, f2, cpu.fpsr);
    case Op::fpnma:
      return no_addend ? fpnmpy(result, sf, f3, f4, cpu.fpsr)
                       : fpnma(result, sf, f3, f4, f2, cpu.fpsr);
    default:
      return std::nullopt;
  }
}

std::optional<FloatingInterruption> extremes_and_conversions(Cpu& cpu, const Slot& s, unsigned sf) {
  F& r = field(cpu, s.a);
  const F &b = field(cpu, s.b), &c = field(cpu, s.c);
  uint64_t& fpsr = cpu.fpsr;
  const auto parallel_compare = [&](FloatingRelation relation) {
    return fpcmp(r, relation, sf, b, c, fpsr);
  };
  switch (s.op) {
    case Op::fmin:
      return fmin(r, sf, b, c, fpsr);
    case Op::fmax:
      return fmax(r, sf, b, c, fpsr);
    case Op::famin:
      return famin(r, sf, b, c, fpsr);
    case Op::famax:
      return famax(r, sf, b, c, fpsr);
    case Op::fpmin:
      return fpmin(r, sf, b, c, fpsr);
    case Op::fpmax:
      return fpmax(r, sf, b, c, fpsr);
    case Op::fpamin:
      return fpamin(r, sf, b, c, fpsr);
    case Op::fpamax:
      return fpamax(r, sf, b, c, fpsr);
    case Op::fpcmp_eq:
      return parallel_compare(FloatingRelation::eq);
    case Op::fpcmp_lt:
      return parallel_compare(FloatingRelation::lt);
    case Op::fpcmp_le:
      return parallel_compare(FloatingRelation::le);
    case Op::fpcmp_unord:
      return parallel_compare(FloatingRelation::unord);
    case Op::fpcmp_neq:
      return parallel_compare(FloatingRelation::neq);
    case Op::fpcmp_nlt:
      return parallel_compare(FloatingRelation::nlt);
    case Op::fpcmp_nle:
      return parallel_compare(FloatingRelation::nle);
    case Op::fpcmp_ord:
      return parallel_compare(FloatingRelation::ord);
    case Op::fcvt_fx:
      return fcvt_fx(r, false, false, sf, b, fpsr);
    case Op::fcvt_fxu:
      return fcvt_fx(r, true, false, sf, b, fpsr);
    case Op::fcvt_fx_trunc:
      return fcvt_fx(r, false, true, sf, b, fpsr);
    case Op::fcvt_fxu_trunc:
      return fcvt_fx(r, true, true, sf, b, fpsr);
    case Op::fpcvt_fx:
      return fpcvt_fx(r, false, false, sf, b, fpsr);
    case Op::fpcvt_fxu:
      return fpcvt_fx(r, true, false, sf, b, fpsr);
    case Op::fpcvt_fx_trunc:
      return fpcvt_fx(r, false, true, sf, b, fpsr);
    case Op::fpcvt_fxu_trunc:
      return fpcvt_fx(r, true, true, sf, b, fpsr);
    default:
      return std::nullopt;
  }
}

/// Moves, merges, logic and integer multiplication, which raise no exceptions.
std::optional<F> plain(Cpu& cpu, const Slot& s) {
  const F &b = field(cpu, s.b), &c = field(cpu, s.c), &d = field(cpu, s.d);
  switch (s.op) {
    case Op::fmerge_s:
      return fmerge_s(b, c);
    case Op::fmerge_ns:
      return fmerge_ns(b, c);
    case Op::fmerge_se:
      return fmerge_se(b, c);
    case Op::fmix_lr:
      return fmix_lr(b, c);
    case Op::fmix_r:
      return fmix_r(b, c);
    case Op::fmix_l:
      return fmix_l(b, c);
    case Op::fsxt_r:
      return fsxt_r(b, c);
    case Op::fsxt_l:
      return fsxt_l(b, c);
    case Op::fpack:
      return fpack(b, c);
    case Op::fswap:
      return fswap(b, c);
    case Op::fswap_nl:
      return fswap_nl(b, c);
    case Op::fswap_nr:
      return fswap_nr(b, c);
    case Op::fand:
      return fand(b, c);
    case Op::fandcm:
      return fandcm(b, c);
    case Op::for_:
      return f_or(b, c);
    case Op::fxor:
      return fxor(b, c);
    case Op::fpmerge_s:
      return fpmerge_s(b, c);
    case Op::fpmerge_ns:
      return fpmerge_ns(b, c);
    case Op::fpmerge_se:
      return fpmerge_se(b, c);
    case Op::fcvt_xf:
      return fcvt_xf(b);
    case Op::xma_l:
      return xma_l(c, d, b);
    case Op::xma_h:
      return xma_h(c, d, b);
    case Op::xma_hu:
      return xma_hu(c, d, b);
    case Op::fselect:
      return fselect(c, d, b);
    default:
      return std::nullopt;
  }
}

void set_pair(Cpu& cpu, const Slot& s, bool nat, bool holds) {
  cpu.pr[s.a == 0 ? kNoPredicate : s.a] = !nat && holds;
  cpu.pr[s.d == 0 ? kNoPredicate : s.d] = !nat && !holds;
}

/// fcmp and fclass. With completer unc they clear their targets if the predicate is 0, so that they
/// test the predicate themselves.
bool compare(Cpu& cpu, const Slot& s, unsigned sf) {
  FloatingRelation relation = FloatingRelation::eq;
  bool unc = false, classes = false;
  switch (s.op) {
    case Op::fcmp_eq_unc:
      unc = true;
      [[fallthrough]];
    case Op::fcmp_eq:
      break;
    case Op::fcmp_lt_unc:
      unc = true;
      [[fallthrough]];
    case Op::fcmp_lt:
      relation = FloatingRelation::lt;
      break;
    case Op::fcmp_le_unc:
      unc = true;
      [[fallthrough]];
    case Op::fcmp_le:
      relation = FloatingRelation::le;
      break;
    case Op::fcmp_unord_unc:
      unc = true;
      [[fallthrough]];
    case Op::fcmp_unord:
      relation = FloatingRelation::unord;
      break;
    case Op::fclass_m_unc:
      unc = true;
      [[fallthrough]];
    case Op::fclass_m:
      classes = true;
      break;
    default:
      return false;
  }
  const F &b = field(cpu, s.b), &c = field(cpu, s.c);
  if (!cpu.pr[s.predicate]) {
    if (unc) set_pair(cpu, s, true, false);
    return true;
  }
  if (classes) {
    // The immediate has the bits in the order of the encoding; in the manual, the two highest bits
    // of fclass9 come first.
    const auto mask = static_cast<uint32_t>(s.immediate);
    set_pair(cpu, s, is_nat(b) && !(mask & kClassNat), fclass(b, mask));
    return true;
  }
  bool holds = false;
  const auto interruption = fcmp(holds, relation, sf, b, c, cpu.fpsr);
  if (interruption == 0 || (interruption & kFloatingTrap))
    set_pair(cpu, s, is_nat(b) || is_nat(c), holds);
  check(cpu, interruption);
  return true;
}

/// frcpa and similar instructions, which clear p2 if the predicate is 0.
bool approximate(Cpu& cpu, const Slot& s, unsigned sf) {
  F& r = field(cpu, s.a);
  const F &b = field(cpu, s.b), &c = field(cpu, s.c);
  const bool is_one =
      s.op == Op::frcpa || s.op == Op::fprcpa || s.op == Op::frsqrta || s.op == Op::fprsqrta;
  if (!is_one) return false;
  uint8_t& p2 = cpu.pr[s.d == 0 ? kNoPredicate : s.d];
  if (!cpu.pr[s.predicate]) {
    p2 = 0;
    return true;
  }
  bool refine = false;
  FloatingInterruption interruption;
  if (s.op == Op::frcpa)
    interruption = frcpa(r, refine, sf, b, c, cpu.fpsr);
  else if (s.op == Op::fprcpa)
    interruption = fprcpa(r, refine, sf, b, c, cpu.fpsr);
  else if (s.op == Op::frsqrta)
    interruption = frsqrta(r, refine, sf, c, cpu.fpsr);
  else
    interruption = fprsqrta(r, refine, sf, c, cpu.fpsr);
  if (interruption == 0 || (interruption & kFloatingTrap)) p2 = refine;
  check(cpu, interruption);
  return true;
}

}  // namespace

void raise_floating(Cpu& cpu, uint32_t interruption) {
  raise_fault(cpu, {SIGFPE, signal_code(interruption), 0, interruption & 0xffff});
}

void execute_floating(Cpu& cpu, const GeneralInstruction& instruction) {
  const Slot& s = instruction.slot;
  const auto sf = static_cast<unsigned>(s.immediate & 3);
  if (const auto interruption = multiply_add(cpu, s, sf)) return check(cpu, *interruption);
  if (const auto value = plain(cpu, s)) {
    field(cpu, s.a) = *value;
    return;
  }
  if (const auto interruption = extremes_and_conversions(cpu, s, sf))
    return check(cpu, *interruption);
  if (compare(cpu, s, sf) || approximate(cpu, s, sf)) return;
  switch (s.op) {
    case Op::fclrf:
      cpu.fpsr = fclrf(cpu.fpsr, sf);
      return;
    case Op::fsetc:
      if (!fsetc(cpu.fpsr, sf, s.b, s.c)) raise_fault(cpu, {SIGILL, ILL_ILLOPN, 0});
      return;
    default:
      raise_fault(cpu, {SIGILL, ILL_ILLOPC, 0});
  }
}

}  // namespace respike::emulator::ia64
