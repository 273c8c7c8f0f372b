// Integer instructions in full: any operands, NaT bits included.
//
// A result is NaT if any source is (SDM 3, each page's r1.nat); nothing here faults. Comparisons
// with a NaT clear both predicates, or leave them alone if they only set (SDM 3, cmp, table 2-15).

#include <csignal>
#include <optional>

#include "simulator/ia64/handlers.h"
#include "simulator/ia64/integer_arithmetic.h"

namespace respike::simulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;

/// Instructions with two registers as sources.
std::optional<uint64_t> of_two(Op op, uint64_t b, uint64_t c, unsigned count) {
  using enum Saturation;
  switch (op) {
    case Op::add:
      return b + c;
    case Op::add_one:
      return b + c + 1;
    case Op::sub:
      return b - c;
    case Op::sub_one:
      return b - c - 1;
    case Op::addp4:
      return addp4(b, c);
    case Op::and_:
      return b & c;
    case Op::andcm:
      return b & ~c;
    case Op::or_:
      return b | c;
    case Op::xor_:
      return b ^ c;
    case Op::shladd:
      return shladd(b, count, c);
    case Op::shladdp4:
      return addp4(b, c, count);
    case Op::padd1:
      return padd1(b, c, modulo);
    case Op::padd2:
      return padd2(b, c, modulo);
    case Op::padd4:
      return padd4(b, c);
    case Op::padd1_sss:
      return padd1(b, c, sss);
    case Op::padd2_sss:
      return padd2(b, c, sss);
    case Op::padd1_uuu:
      return padd1(b, c, uuu);
    case Op::padd2_uuu:
      return padd2(b, c, uuu);
    case Op::padd1_uus:
      return padd1(b, c, uus);
    case Op::padd2_uus:
      return padd2(b, c, uus);
    case Op::psub1:
      return psub1(b, c, modulo);
    case Op::psub2:
      return psub2(b, c, modulo);
    case Op::psub4:
      return psub4(b, c);
    case Op::psub1_sss:
      return psub1(b, c, sss);
    case Op::psub2_sss:
      return psub2(b, c, sss);
    case Op::psub1_uuu:
      return psub1(b, c, uuu);
    case Op::psub2_uuu:
      return psub2(b, c, uuu);
    case Op::psub1_uus:
      return psub1(b, c, uus);
    case Op::psub2_uus:
      return psub2(b, c, uus);
    case Op::pavg1:
      return pavg1(b, c, false);
    case Op::pavg2:
      return pavg2(b, c, false);
    case Op::pavg1_raz:
      return pavg1(b, c, true);
    case Op::pavg2_raz:
      return pavg2(b, c, true);
    case Op::pavgsub1:
      return pavgsub1(b, c);
    case Op::pavgsub2:
      return pavgsub2(b, c);
    case Op::pcmp1_eq:
      return pcmp1_eq(b, c);
    case Op::pcmp2_eq:
      return pcmp2_eq(b, c);
    case Op::pcmp4_eq:
      return pcmp4_eq(b, c);
    case Op::pcmp1_gt:
      return pcmp1_gt(b, c);
    case Op::pcmp2_gt:
      return pcmp2_gt(b, c);
    case Op::pcmp4_gt:
      return pcmp4_gt(b, c);
    case Op::pshladd2:
      return pshladd2(b, count, c);
    case Op::pshradd2:
      return pshradd2(b, count, c);
    case Op::pmpyshr2:
      return pmpyshr2(b, c, count);
    case Op::pmpyshr2_u:
      return pmpyshr2_u(b, c, count);
    case Op::pmpy2_r:
      return pmpy2_r(b, c);
    case Op::pmpy2_l:
      return pmpy2_l(b, c);
    case Op::mix1_r:
      return mix1_r(b, c);
    case Op::mix2_r:
      return mix2_r(b, c);
    case Op::mix4_r:
      return mix4_r(b, c);
    case Op::mix1_l:
      return mix1_l(b, c);
    case Op::mix2_l:
      return mix2_l(b, c);
    case Op::mix4_l:
      return mix4_l(b, c);
    case Op::pack2_uss:
      return pack2_uss(b, c);
    case Op::pack2_sss:
      return pack2_sss(b, c);
    case Op::pack4_sss:
      return pack4_sss(b, c);
    case Op::unpack1_h:
      return unpack1_h(b, c);
    case Op::unpack2_h:
      return unpack2_h(b, c);
    case Op::unpack4_h:
      return unpack4_h(b, c);
    case Op::unpack1_l:
      return unpack1_l(b, c);
    case Op::unpack2_l:
      return unpack2_l(b, c);
    case Op::unpack4_l:
      return unpack4_l(b, c);
    case Op::pmin1_u:
      return pmin1_u(b, c);
    case Op::pmax1_u:
      return pmax1_u(b, c);
    case Op::pmin2:
      return pmin2(b, c);
    case Op::pmax2:
      return pmax2(b, c);
    case Op::psad1:
      return psad1(b, c);
    case Op::pshr2:
      return pshr2(c, b);
    case Op::pshr4:
      return pshr4(c, b);
    case Op::shr:
      return shr(c, b);
    case Op::pshr2_u:
      return pshr2_u(c, b);
    case Op::pshr4_u:
      return pshr4_u(c, b);
    case Op::shr_u:
      return shr_u(c, b);
    case Op::pshl2:
      return pshl2(b, c);
    case Op::pshl4:
      return pshl4(b, c);
    case Op::shl:
      return shl(b, c);
    case Op::mpy4:
      return mpy4(b, c);
    case Op::mpyshl4:
      return mpyshl4(b, c);
    case Op::shrp:
      return shrp(b, c, count);
    default:
      return std::nullopt;
  }
}

/// Instructions with r3 as only source register.
std::optional<uint64_t> of_c(const Slot& s, uint64_t c) {
  const auto number = static_cast<uint64_t>(s.immediate);
  const auto position = static_cast<unsigned>(s.immediate);
  switch (s.op) {
    case Op::sub_imm8:
      return number - c;
    case Op::and_imm8:
      return number & c;
    case Op::andcm_imm8:
      return number & ~c;
    case Op::or_imm8:
      return number | c;
    case Op::xor_imm8:
      return number ^ c;
    case Op::adds:
    case Op::addl:
      return number + c;
    case Op::addp4_imm14:
      return addp4(number, c);
    case Op::pshr2_imm5:
      return pshr2(c, number);
    case Op::pshr4_imm5:
      return pshr4(c, number);
    case Op::pshr2_u_imm5:
      return pshr2_u(c, number);
    case Op::pshr4_u_imm5:
      return pshr4_u(c, number);
    case Op::popcnt:
      return popcnt(c);
    case Op::clz:
      return clz(c);
    case Op::extr_u:
      return extr_u(c, position, s.d);
    case Op::extr:
      return extr(c, position, s.d);
    case Op::dep_imm1:
      return dep(number, c, s.b, s.d);
    case Op::zxt1:
      return zxt1(c);
    case Op::zxt2:
      return zxt2(c);
    case Op::zxt4:
      return zxt4(c);
    case Op::sxt1:
      return sxt1(c);
    case Op::sxt2:
      return sxt2(c);
    case Op::sxt4:
      return sxt4(c);
    case Op::czx1_l:
      return czx1_l(c);
    case Op::czx2_l:
      return czx2_l(c);
    case Op::czx1_r:
      return czx1_r(c);
    case Op::czx2_r:
      return czx2_r(c);
    default:
      return std::nullopt;
  }
}

/// Instructions with r2 as only source register.
std::optional<uint64_t> of_b(const Slot& s, uint64_t b) {
  const auto number = static_cast<unsigned>(s.immediate);
  switch (s.op) {
    case Op::mux1:
      return mux1(b, static_cast<Mux1>(number & 15));
    case Op::mux2:
      return mux2(b, number & 0xff);
    case Op::pshl2_imm5:
      return pshl2(b, number);
    case Op::pshl4_imm5:
      return pshl4(b, number);
    case Op::dep_z:
      return dep(b, 0, number, s.d);
    default:
      return std::nullopt;
  }
}

void finish(Cpu& cpu, unsigned target, uint64_t value, bool nat) {
  general(cpu, target) = value;
  set_nat(cpu, target, nat);
}

bool compare(CompareKind kind, uint64_t b, uint64_t c) {
  using R = CompareKind::Relation;
  auto x = static_cast<int64_t>(b), y = static_cast<int64_t>(c);
  if (kind.what == CompareKind::What::cmp4) {
    if (kind.relation == R::ltu) return static_cast<uint32_t>(b) < static_cast<uint32_t>(c);
    x = static_cast<int32_t>(b);
    y = static_cast<int32_t>(c);
  }
  switch (kind.relation) {
    case R::eq:
      return x == y;
    case R::ne:
      return x != y;
    case R::lt:
      return x < y;
    case R::le:
      return x <= y;
    case R::gt:
      return x > y;
    case R::ge:
      return x >= y;
    default:
      return b < c;
  }
}

}  // namespace

void execute_integer(Cpu& cpu, const GeneralInstruction& instruction) {
  const Slot& s = instruction.slot;
  if (s.op == Op::movl) return finish(cpu, s.a, static_cast<uint64_t>(s.immediate), false);
  if (s.op == Op::dep_z_imm8)
    return finish(cpu, s.a, dep(static_cast<uint64_t>(s.immediate), 0, s.c, s.d), false);
  const uint64_t b = general(cpu, s.b), c = general(cpu, s.c);
  const bool nat_b = nat_of(cpu, s.b), nat_c = nat_of(cpu, s.c);
  if (s.op == Op::dep) {
    return finish(cpu, s.a, dep(b, c, static_cast<unsigned>(s.immediate), s.d), nat_b || nat_c);
  }
  if (const auto value = of_two(s.op, b, c, static_cast<unsigned>(s.immediate))) {
    return finish(cpu, s.a, *value, nat_b || nat_c);
  }
  if (const auto value = of_c(s, c)) return finish(cpu, s.a, *value, nat_c);
  if (const auto value = of_b(s, b)) return finish(cpu, s.a, *value, nat_b);
  raise_fault(cpu, {SIGILL, ILL_ILLOPC, 0});
}

/// Writes the targets by the comparison's type. A target p0 is number kNoPredicate.
static void set_targets(Cpu& cpu, const Slot& s, CompareKind::Type type, bool nat, bool holds) {
  const uint8_t p1 = s.a == 0 ? kNoPredicate : s.a, p2 = s.d == 0 ? kNoPredicate : s.d;
  using T = CompareKind::Type;
  switch (type) {
    case T::none:
    case T::unc:
      cpu.pr[p1] = !nat && holds;
      cpu.pr[p2] = !nat && !holds;
      return;
    case T::and_:
      if (nat || !holds) cpu.pr[p1] = cpu.pr[p2] = 0;
      return;
    case T::or_:
      if (!nat && holds) cpu.pr[p1] = cpu.pr[p2] = 1;
      return;
    case T::or_andcm:
      if (!nat && holds) {
        cpu.pr[p1] = 1;
        cpu.pr[p2] = 0;
      }
      return;
  }
}

/// The qualifying predicate is looked at here, since unc writes its targets even when it is 0.
void execute_compare(Cpu& cpu, const GeneralInstruction& instruction) {
  const Slot& s = instruction.slot;
  const CompareKind kind = compare_kind(s.op);
  const bool qualified = cpu.pr[s.predicate];
  if (kind.type == CompareKind::Type::unc && !qualified) {
    cpu.pr[s.a == 0 ? kNoPredicate : s.a] = 0;
    cpu.pr[s.d == 0 ? kNoPredicate : s.d] = 0;
    return;
  }
  if (!qualified) return;
  using What = CompareKind::What;
  bool nat = nat_of(cpu, s.c), holds = false;
  const uint64_t c = general(cpu, s.c);
  switch (kind.what) {
    case What::tbit:
      holds = (c >> (s.immediate & 63) & 1) == (kind.relation == CompareKind::Relation::nz);
      break;
    case What::tnat:
      holds = nat == (kind.relation == CompareKind::Relation::nz);
      nat = false;
      break;
    case What::tf:  // no feature of cpuid[4] is there
      holds = kind.relation == CompareKind::Relation::z;
      nat = false;
      break;
    default:
      if (kind.immediate) {
        holds = compare(kind, static_cast<uint64_t>(s.immediate), c);
      } else if (kind.zero) {
        holds = compare(kind, 0, c);
      } else {
        nat = nat || nat_of(cpu, s.b);
        holds = compare(kind, general(cpu, s.b), c);
      }
  }
  set_targets(cpu, s, kind.type, nat, holds);
}

}  // namespace respike::simulator::ia64
