// Integer instructions in full: any operands, NaT bits included.
//
// A result is NaT if any source is NaT (SDM 3, each page's r1.nat); nothing here faults. If an
// operand is NaT, a comparison clears both predicates; a comparison that can only set predicates
// leaves them alone (SDM 3, cmp, table 2-15). Example: `add r1 = r2, r3` with r2 = NaT gives a NaT
// in r1; `cmp.eq p6, p7 = r2, r3` then clears p6 and p7.

#include <array>
#include <csignal>

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/integer_arithmetic.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;

/// Computes the result of an instruction from its fields and the registers r2 and r3 (fields b and
/// c).
using Compute = uint64_t (*)(const Slot& s, uint64_t b, uint64_t c);

enum Sources : uint8_t { kNoRegister = 0, kB = 1, kC = 2, kBoth = 3 };

struct IntegerRow {
  Op op;
  uint8_t sources;  ///< number of source registers, whose NaT bits the result takes
  Compute compute;
};

uint64_t number(const Slot& s) {
  return static_cast<uint64_t>(s.immediate);
}
unsigned count(const Slot& s) {
  return static_cast<unsigned>(s.immediate);
}

using enum Saturation;

#define RESPIKE_ROW(op, sources, expression)                               \
  {                                                                        \
    Op::op, sources,                                                       \
        []([[maybe_unused]] const Slot& s, [[maybe_unused]] uint64_t b,    \
           [[maybe_unused]] uint64_t c) -> uint64_t { return expression; } \
  }

constexpr IntegerRow kRows[] = {
    RESPIKE_ROW(add, kBoth, b + c),
    RESPIKE_ROW(add_one, kBoth, b + c + 1),
    RESPIKE_ROW(sub, kBoth, b - c),
    RESPIKE_ROW(sub_one, kBoth, b - c - 1),
    RESPIKE_ROW(addp4, kBoth, addp4(b, c)),
    RESPIKE_ROW(and_, kBoth, (b & c)),
    RESPIKE_ROW(andcm, kBoth, b & ~c),
    RESPIKE_ROW(or_, kBoth, b | c),
    RESPIKE_ROW(xor_, kBoth, b ^ c),
    RESPIKE_ROW(shladd, kBoth, shladd(b, count(s), c)),
    RESPIKE_ROW(shladdp4, kBoth, addp4(b, c, count(s))),
    RESPIKE_ROW(padd1, kBoth, padd1(b, c, modulo)),
    RESPIKE_ROW(padd2, kBoth, padd2(b, c, modulo)),
    RESPIKE_ROW(padd4, kBoth, padd4(b, c)),
    RESPIKE_ROW(padd1_sss, kBoth, padd1(b, c, sss)),
    RESPIKE_ROW(padd2_sss, kBoth, padd2(b, c, sss)),
    RESPIKE_ROW(padd1_uuu, kBoth, padd1(b, c, uuu)),
    RESPIKE_ROW(padd2_uuu, kBoth, padd2(b, c, uuu)),
    RESPIKE_ROW(padd1_uus, kBoth, padd1(b, c, uus)),
    RESPIKE_ROW(padd2_uus, kBoth, padd2(b, c, uus)),
    RESPIKE_ROW(psub1, kBoth, psub1(b, c, modulo)),
    RESPIKE_ROW(psub2, kBoth, psub2(b, c, modulo)),
    RESPIKE_ROW(psub4, kBoth, psub4(b, c)),
    RESPIKE_ROW(psub1_sss, kBoth, psub1(b, c, sss)),
    RESPIKE_ROW(psub2_sss, kBoth, psub2(b, c, sss)),
    RESPIKE_ROW(psub1_uuu, kBoth, psub1(b, c, uuu)),
    RESPIKE_ROW(psub2_uuu, kBoth, psub2(b, c, uuu)),
    RESPIKE_ROW(psub1_uus, kBoth, psub1(b, c, uus)),
    RESPIKE_ROW(psub2_uus, kBoth, psub2(b, c, uus)),
    RESPIKE_ROW(pavg1, kBoth, pavg1(b, c, false)),
    RESPIKE_ROW(pavg2, kBoth, pavg2(b, c, false)),
    RESPIKE_ROW(pavg1_raz, kBoth, pavg1(b, c, true)),
    RESPIKE_ROW(pavg2_raz, kBoth, pavg2(b, c, true)),
    RESPIKE_ROW(pavgsub1, kBoth, pavgsub1(b, c)),
    RESPIKE_ROW(pavgsub2, kBoth, pavgsub2(b, c)),
    RESPIKE_ROW(pcmp1_eq, kBoth, pcmp1_eq(b, c)),
    RESPIKE_ROW(pcmp2_eq, kBoth, pcmp2_eq(b, c)),
    RESPIKE_ROW(pcmp4_eq, kBoth, pcmp4_eq(b, c)),
    RESPIKE_ROW(pcmp1_gt, kBoth, pcmp1_gt(b, c)),
    RESPIKE_ROW(pcmp2_gt, kBoth, pcmp2_gt(b, c)),
    RESPIKE_ROW(pcmp4_gt, kBoth, pcmp4_gt(b, c)),
    RESPIKE_ROW(pshladd2, kBoth, pshladd2(b, count(s), c)),
    RESPIKE_ROW(pshradd2, kBoth, pshradd2(b, count(s), c)),
    RESPIKE_ROW(pmpyshr2, kBoth, pmpyshr2(b, c, count(s))),
    RESPIKE_ROW(pmpyshr2_u, kBoth, pmpyshr2_u(b, c, count(s))),
    RESPIKE_ROW(pmpy2_r, kBoth, pmpy2_r(b, c)),
    RESPIKE_ROW(pmpy2_l, kBoth, pmpy2_l(b, c)),
    RESPIKE_ROW(mix1_r, kBoth, mix1_r(b, c)),
    RESPIKE_ROW(mix2_r, kBoth, mix2_r(b, c)),
    RESPIKE_ROW(mix4_r, kBoth, mix4_r(b, c)),
    RESPIKE_ROW(mix1_l, kBoth, mix1_l(b, c)),
    RESPIKE_ROW(mix2_l, kBoth, mix2_l(b, c)),
    RESPIKE_ROW(mix4_l, kBoth, mix4_l(b, c)),
    RESPIKE_ROW(pack2_uss, kBoth, pack2_uss(b, c)),
    RESPIKE_ROW(pack2_sss, kBoth, pack2_sss(b, c)),
    RESPIKE_ROW(pack4_sss, kBoth, pack4_sss(b, c)),
    RESPIKE_ROW(unpack1_h, kBoth, unpack1_h(b, c)),
    RESPIKE_ROW(unpack2_h, kBoth, unpack2_h(b, c)),
    RESPIKE_ROW(unpack4_h, kBoth, unpack4_h(b, c)),
    RESPIKE_ROW(unpack1_l, kBoth, unpack1_l(b, c)),
    RESPIKE_ROW(unpack2_l, kBoth, unpack2_l(b, c)),
    RESPIKE_ROW(unpack4_l, kBoth, unpack4_l(b, c)),
    RESPIKE_ROW(pmin1_u, kBoth, pmin1_u(b, c)),
    RESPIKE_ROW(pmax1_u, kBoth, pmax1_u(b, c)),
    RESPIKE_ROW(pmin2, kBoth, pmin2(b, c)),
    RESPIKE_ROW(pmax2, kBoth, pmax2(b, c)),
    RESPIKE_ROW(psad1, kBoth, psad1(b, c)),
    RESPIKE_ROW(pshr2, kBoth, pshr2(c, b)),
    RESPIKE_ROW(pshr4, kBoth, pshr4(c, b)),
    RESPIKE_ROW(shr, kBoth, shr(c, b)),
    RESPIKE_ROW(pshr2_u, kBoth, pshr2_u(c, b)),
    RESPIKE_ROW(pshr4_u, kBoth, pshr4_u(c, b)),
    RESPIKE_ROW(shr_u, kBoth, shr_u(c, b)),
    RESPIKE_ROW(pshl2, kBoth, pshl2(b, c)),
    RESPIKE_ROW(pshl4, kBoth, pshl4(b, c)),
    RESPIKE_ROW(shl, kBoth, shl(b, c)),
    RESPIKE_ROW(mpy4, kBoth, mpy4(b, c)),
    RESPIKE_ROW(mpyshl4, kBoth, mpyshl4(b, c)),
    RESPIKE_ROW(shrp, kBoth, shrp(b, c, count(s))),
    RESPIKE_ROW(dep, kBoth, dep(b, c, count(s), s.d)),
    RESPIKE_ROW(sub_imm8, kC, number(s) - c),
    RESPIKE_ROW(and_imm8, kC, number(s) & c),
    RESPIKE_ROW(andcm_imm8, kC, number(s) & ~c),
    RESPIKE_ROW(or_imm8, kC, number(s) | c),
    RESPIKE_ROW(xor_imm8, kC, number(s) ^ c),
    RESPIKE_ROW(adds, kC, number(s) + c),
    RESPIKE_ROW(addl, kC, number(s) + c),
    RESPIKE_ROW(addp4_imm14, kC, addp4(number(s), c)),
    RESPIKE_ROW(pshr2_imm5, kC, pshr2(c, number(s))),
    RESPIKE_ROW(pshr4_imm5, kC, pshr4(c, number(s))),
    RESPIKE_ROW(pshr2_u_imm5, kC, pshr2_u(c, number(s))),
    RESPIKE_ROW(pshr4_u_imm5, kC, pshr4_u(c, number(s))),
    RESPIKE_ROW(popcnt, kC, popcnt(c)),
    RESPIKE_ROW(clz, kC, clz(c)),
    RESPIKE_ROW(extr_u, kC, extr_u(c, count(s), s.d)),
    RESPIKE_ROW(extr, kC, extr(c, count(s), s.d)),
    RESPIKE_ROW(dep_imm1, kC, dep(number(s), c, s.b, s.d)),
    RESPIKE_ROW(zxt1, kC, zxt1(c)),
    RESPIKE_ROW(zxt2, kC, zxt2(c)),
    RESPIKE_ROW(zxt4, kC, zxt4(c)),
    RESPIKE_ROW(sxt1, kC, sxt1(c)),
    RESPIKE_ROW(sxt2, kC, sxt2(c)),
    RESPIKE_ROW(sxt4, kC, sxt4(c)),
    RESPIKE_ROW(czx1_l, kC, czx1_l(c)),
    RESPIKE_ROW(czx2_l, kC, czx2_l(c)),
    RESPIKE_ROW(czx1_r, kC, czx1_r(c)),
    RESPIKE_ROW(czx2_r, kC, czx2_r(c)),
    RESPIKE_ROW(mux1, kB, mux1(b, static_cast<Mux1>(count(s) & 15))),
    RESPIKE_ROW(mux2, kB, mux2(b, count(s) & 0xff)),
    RESPIKE_ROW(pshl2_imm5, kB, pshl2(b, count(s))),
    RESPIKE_ROW(pshl4_imm5, kB, pshl4(b, count(s))),
    RESPIKE_ROW(dep_z, kB, dep(b, 0, count(s), s.d)),
    RESPIKE_ROW(dep_z_imm8, kNoRegister, dep(number(s), 0, s.c, s.d)),
    RESPIKE_ROW(movl, kNoRegister, number(s)),
};
#undef RESPIKE_ROW

constexpr auto kRowByOp = [] {
  std::array<const IntegerRow*, respike::ia64::kOpCount> rows = {};
  for (const IntegerRow& row : kRows) rows[static_cast<size_t>(row.op)] = &row;
  return rows;
}();

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
  const IntegerRow* const row = kRowByOp[static_cast<size_t>(s.op)];
  if (row == nullptr) raise_fault(cpu, {SIGILL, ILL_ILLOPC, 0});
  const bool reads_b = row->sources & kB, reads_c = row->sources & kC;
  const uint64_t b = reads_b ? general(cpu, s.b) : 0, c = reads_c ? general(cpu, s.c) : 0;
  const bool nat = (reads_b && nat_of(cpu, s.b)) || (reads_c && nat_of(cpu, s.c));
  finish(cpu, s.a, row->compute(s, b, c), nat);
}

/// Writes the targets according to the type of the comparison. Number kNoPredicate stands for
/// target p0.
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

/// Tests the qualifying predicate itself, since unc writes its targets even if the predicate is 0.
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
    case What::tf:  // cpuid[4] names no features
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

}  // namespace respike::emulator::ia64
