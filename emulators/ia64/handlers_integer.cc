// Specialised handlers of integer instructions.
//
// There is one template for each shape of operands: three registers, two registers and an
// immediate, and so on. A stateless function object computes the result. Each template is
// instantiated for static and stacked registers as operands. The compiler builds the tables from
// index sequences. Example: `add r8 = r9, r32` is the three-register template with Add,
// instantiated for static, static, stacked.

#include <array>
#include <utility>

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/integer_arithmetic.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;

template <class F, bool A, bool B, bool C>
const MicroOp* three(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  reg<A>(cpu, frame, op->a) =
      F()(reg<B>(cpu, frame, op->b), reg<C>(cpu, frame, op->c), op->immediate);
  RESPIKE_NEXT;
}

template <class F, bool A, bool C>
const MicroOp* two(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  reg<A>(cpu, frame, op->a) = F()(reg<C>(cpu, frame, op->c), op->immediate, op->b, op->d);
  RESPIKE_NEXT;
}

template <class F, bool B, bool C>
const MicroOp* compare(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  const bool holds = F()(reg<B>(cpu, frame, op->b), reg<C>(cpu, frame, op->c));
  cpu->pr[op->a] = holds;
  cpu->pr[op->d] = !holds;
  RESPIKE_NEXT;
}

template <class F, bool C>
const MicroOp* compare_immediate(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  const bool holds = F()(static_cast<uint64_t>(op->immediate), reg<C>(cpu, frame, op->c));
  cpu->pr[op->a] = holds;
  cpu->pr[op->d] = !holds;
  RESPIKE_NEXT;
}

template <bool A>
const MicroOp* set(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  reg<A>(cpu, frame, op->a) = static_cast<uint64_t>(op->immediate);
  RESPIKE_NEXT;
}

template <bool A>
const MicroOp* from_branch_register(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  reg<A>(cpu, frame, op->a) = cpu->br[op->b];
  RESPIKE_NEXT;
}

template <bool B>
const MicroOp* to_branch_register(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->br[op->a] = reg<B>(cpu, frame, op->b);
  RESPIKE_NEXT;
}

template <bool B>
const MicroOp* to_pfs(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->pfs = writable_pfs(reg<B>(cpu, frame, op->b));
  RESPIKE_NEXT;
}

template <bool B>
const MicroOp* to_lc(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->lc = reg<B>(cpu, frame, op->b);
  RESPIKE_NEXT;
}

template <bool A>
const MicroOp* from_lc(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  reg<A>(cpu, frame, op->a) = cpu->lc;
  RESPIKE_NEXT;
}

constexpr bool stacked(uint8_t number) {
  return number >= 32;
}
constexpr uint8_t within(uint8_t number) {
  return number >= 32 ? number - 32 : number;
}
constexpr uint8_t predicate_target(uint8_t number) {
  return number == 0 ? kNoPredicate : number;
}

template <class F>
MicroOp make_three(const Slot& s) {
  static constexpr Handler kTable[8] = {three<F, 0, 0, 0>, three<F, 0, 0, 1>, three<F, 0, 1, 0>,
                                        three<F, 0, 1, 1>, three<F, 1, 0, 0>, three<F, 1, 0, 1>,
                                        three<F, 1, 1, 0>, three<F, 1, 1, 1>};
  MicroOp op;
  op.run = kTable[stacked(s.a) * 4 + stacked(s.b) * 2 + stacked(s.c)];
  op.a = within(s.a);
  op.b = within(s.b);
  op.c = within(s.c);
  op.immediate = s.immediate;
  return op;
}

/// `b` and `d` are small numbers; `source` the register.
template <class F>
MicroOp make_two(const Slot& s, uint8_t source, int64_t immediate, uint8_t b = 0, uint8_t d = 0) {
  static constexpr Handler kTable[4] = {two<F, 0, 0>, two<F, 0, 1>, two<F, 1, 0>, two<F, 1, 1>};
  MicroOp op;
  op.run = kTable[stacked(s.a) * 2 + stacked(source)];
  op.a = within(s.a);
  op.c = within(source);
  op.b = b;
  op.d = d;
  op.immediate = immediate;
  return op;
}

template <class F>
MicroOp make_compare(const Slot& s) {
  static constexpr Handler kTable[4] = {compare<F, 0, 0>, compare<F, 0, 1>, compare<F, 1, 0>,
                                        compare<F, 1, 1>};
  MicroOp op;
  op.run = kTable[stacked(s.b) * 2 + stacked(s.c)];
  op.a = predicate_target(s.a);
  op.d = predicate_target(s.d);
  op.b = within(s.b);
  op.c = within(s.c);
  return op;
}

template <class F>
MicroOp make_compare_immediate(const Slot& s) {
  static constexpr Handler kTable[2] = {compare_immediate<F, 0>, compare_immediate<F, 1>};
  MicroOp op;
  op.run = kTable[stacked(s.c)];
  op.a = predicate_target(s.a);
  op.d = predicate_target(s.d);
  op.c = within(s.c);
  op.immediate = s.immediate;
  return op;
}

// The operations. Parameters: b, c, immediate; or source, immediate, b, d; or the operands of a
// comparison.
using U = uint64_t;
using I = int64_t;
#define RESPIKE_THREE(name, expression)                                       \
  struct name {                                                               \
    U operator()(U b, U c, [[maybe_unused]] I i) const { return expression; } \
  }
#define RESPIKE_TWO(name, expression)                                    \
  struct name {                                                          \
    U operator()(U c, [[maybe_unused]] I i, [[maybe_unused]] unsigned b, \
                 [[maybe_unused]] unsigned d) const {                    \
      return expression;                                                 \
    }                                                                    \
  }
#define RESPIKE_COMPARE(name, expression)                  \
  struct name {                                            \
    bool operator()(U b, U c) const { return expression; } \
  }

RESPIKE_THREE(Add, b + c);
RESPIKE_THREE(AddOne, b + c + 1);
RESPIKE_THREE(Sub, b - c);
RESPIKE_THREE(SubOne, b - c - 1);
RESPIKE_THREE(And, b& c);
RESPIKE_THREE(Andcm, b & ~c);
RESPIKE_THREE(Or, b | c);
RESPIKE_THREE(Xor, b ^ c);
RESPIKE_THREE(Shladd, (b << (i & 7)) + c);
RESPIKE_THREE(Addp4, addp4(b, c));
RESPIKE_THREE(Shl, shl(b, c));
RESPIKE_THREE(Shr, shr(c, b));
RESPIKE_THREE(ShrU, shr_u(c, b));

RESPIKE_TWO(AddImmediate, c + static_cast<U>(i));
RESPIKE_TWO(Move, c);
RESPIKE_TWO(SubImmediate, static_cast<U>(i) - c);
RESPIKE_TWO(AndImmediate, c& static_cast<U>(i));
RESPIKE_TWO(OrImmediate, c | static_cast<U>(i));
RESPIKE_TWO(XorImmediate, c ^ static_cast<U>(i));
RESPIKE_TWO(ShiftUp, c << (b & 63) >> (d & 63));
RESPIKE_TWO(ShiftUpSigned, static_cast<U>(static_cast<I>(c << (b & 63)) >> (d & 63)));
RESPIKE_TWO(DepositZero, (c & static_cast<U>(i)) << (b & 63));
RESPIKE_TWO(Sxt1, sxt1(c));
RESPIKE_TWO(Sxt2, sxt2(c));
RESPIKE_TWO(Sxt4, sxt4(c));
RESPIKE_TWO(Zxt1, zxt1(c));
RESPIKE_TWO(Zxt2, zxt2(c));
RESPIKE_TWO(Zxt4, zxt4(c));

RESPIKE_COMPARE(Equal, b == c);
RESPIKE_COMPARE(Less, static_cast<I>(b) < static_cast<I>(c));
RESPIKE_COMPARE(LessUnsigned, b < c);
RESPIKE_COMPARE(Equal4, static_cast<uint32_t>(b) == static_cast<uint32_t>(c));
RESPIKE_COMPARE(Less4, static_cast<int32_t>(b) < static_cast<int32_t>(c));
RESPIKE_COMPARE(LessUnsigned4, static_cast<uint32_t>(b) < static_cast<uint32_t>(c));
/// tbit.z; the number of the bit is the first operand.
RESPIKE_COMPARE(BitIsZero, !(c >> (b & 63) & 1));

/// dep: op->b is the position, d the length, c the value of the register that takes the field.
template <bool A, bool B, bool C>
const MicroOp* deposit(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  const auto mask = static_cast<uint64_t>(op->immediate);
  reg<A>(cpu, frame, op->a) =
      (reg<B>(cpu, frame, op->b) << op->d & mask) | (reg<C>(cpu, frame, op->c) & ~mask);
  RESPIKE_NEXT;
}

/// The bits of a field of `length` at `position`.
constexpr uint64_t field_mask(unsigned position, unsigned length) {
  return (length > 63 ? ~uint64_t{0} : (uint64_t{1} << length) - 1) << position;
}

MicroOp make_deposit(const Slot& s) {
  static constexpr Handler kTable[8] = {deposit<0, 0, 0>, deposit<0, 0, 1>, deposit<0, 1, 0>,
                                        deposit<0, 1, 1>, deposit<1, 0, 0>, deposit<1, 0, 1>,
                                        deposit<1, 1, 0>, deposit<1, 1, 1>};
  MicroOp op;
  op.run = kTable[stacked(s.a) * 4 + stacked(s.b) * 2 + stacked(s.c)];
  op.a = within(s.a);
  op.b = within(s.b);
  op.c = within(s.c);
  op.d = static_cast<uint8_t>(s.immediate);
  op.immediate = static_cast<int64_t>(field_mask(op.d, s.d));
  return op;
}

template <class F>
MicroOp make_extract(const Slot& s) {
  const auto position = static_cast<unsigned>(s.immediate);
  const unsigned length = position + s.d > 64 ? 64 - position : s.d;
  const auto up = static_cast<uint8_t>(64 - length - position),
             down = static_cast<uint8_t>(64 - length);
  return make_two<F>(s, s.c, 0, up, down);
}

MicroOp make(Handler fixed, Handler in_frame, uint8_t number) {
  MicroOp op;
  op.run = stacked(number) ? in_frame : fixed;
  return op;
}

MicroOp make_set(const Slot& s, int64_t value) {
  MicroOp op = make(set<false>, set<true>, s.a);
  op.a = within(s.a);
  op.immediate = value;
  return op;
}

/// Comparisons of types none and unc, which differ only if the predicate is 0.
MicroOp specialise_compare(const Slot& s, CompareKind kind) {
  using R = CompareKind::Relation;
  const bool narrow = kind.what == CompareKind::What::cmp4;
  if (kind.what == CompareKind::What::tbit) return make_compare_immediate<BitIsZero>(s);
  if (kind.what != CompareKind::What::cmp && !narrow) return {};
  if (kind.immediate) {
    if (kind.relation == R::eq)
      return narrow ? make_compare_immediate<Equal4>(s) : make_compare_immediate<Equal>(s);
    if (kind.relation == R::lt)
      return narrow ? make_compare_immediate<Less4>(s) : make_compare_immediate<Less>(s);
    return narrow ? make_compare_immediate<LessUnsigned4>(s)
                  : make_compare_immediate<LessUnsigned>(s);
  }
  if (kind.relation == R::eq) return narrow ? make_compare<Equal4>(s) : make_compare<Equal>(s);
  if (kind.relation == R::lt) return narrow ? make_compare<Less4>(s) : make_compare<Less>(s);
  return narrow ? make_compare<LessUnsigned4>(s) : make_compare<LessUnsigned>(s);
}

constexpr unsigned kArPfs = 64, kArLc = 65;

MicroOp specialise_application(const Slot& s) {
  MicroOp op;
  if (s.op == Op::mov_i_to_ar && s.c == kArPfs) op = make(to_pfs<false>, to_pfs<true>, s.b);
  if (s.op == Op::mov_i_to_ar && s.c == kArLc) op = make(to_lc<false>, to_lc<true>, s.b);
  if (s.op == Op::mov_i_from_ar && s.c == kArLc) op = make(from_lc<false>, from_lc<true>, s.a);
  op.a = within(s.a);
  op.b = within(s.b);
  return op;
}

/// `adds` also moves registers and loads small numbers.
MicroOp make_add_immediate(const Slot& s) {
  if (s.c == 0) return make_set(s, s.immediate);
  return s.immediate == 0 ? make_two<Move>(s, s.c, 0) : make_two<AddImmediate>(s, s.c, s.immediate);
}

template <class F>
MicroOp make_immediate(const Slot& s) {
  return make_two<F>(s, s.c, s.immediate);
}

template <class F>
MicroOp make_one(const Slot& s) {
  return make_two<F>(s, s.c, 0);
}

MicroOp make_deposit_zero(const Slot& s) {
  return make_two<DepositZero>(s, s.b, static_cast<int64_t>(field_mask(0, s.d)),
                               static_cast<uint8_t>(s.immediate));
}

MicroOp make_from_branch_register(const Slot& s) {
  MicroOp op = make(from_branch_register<false>, from_branch_register<true>, s.a);
  op.a = within(s.a);
  op.b = s.b;
  return op;
}

MicroOp make_to_branch_register(const Slot& s) {
  MicroOp op = make(to_branch_register<false>, to_branch_register<true>, s.b);
  op.a = s.a;
  op.b = within(s.b);
  return op;
}

using Maker = MicroOp (*)(const Slot&);

/// By Op; null for instructions that have no specialised handler.
constexpr auto kMakers = [] {
  constexpr std::pair<Op, Maker> kRows[] = {
      {Op::add, make_three<Add>},
      {Op::add_one, make_three<AddOne>},
      {Op::sub, make_three<Sub>},
      {Op::sub_one, make_three<SubOne>},
      {Op::and_, make_three<And>},
      {Op::andcm, make_three<Andcm>},
      {Op::or_, make_three<Or>},
      {Op::xor_, make_three<Xor>},
      {Op::shladd, make_three<Shladd>},
      {Op::addp4, make_three<Addp4>},
      {Op::shl, make_three<Shl>},
      {Op::shr, make_three<Shr>},
      {Op::shr_u, make_three<ShrU>},
      {Op::sub_imm8, make_immediate<SubImmediate>},
      {Op::and_imm8, make_immediate<AndImmediate>},
      {Op::or_imm8, make_immediate<OrImmediate>},
      {Op::xor_imm8, make_immediate<XorImmediate>},
      {Op::adds, make_add_immediate},
      {Op::addl, make_add_immediate},
      {Op::movl, [](const Slot& s) { return make_set(s, s.immediate); }},
      {Op::extr_u, make_extract<ShiftUp>},
      {Op::extr, make_extract<ShiftUpSigned>},
      {Op::dep, make_deposit},
      {Op::dep_z, make_deposit_zero},
      {Op::sxt1, make_one<Sxt1>},
      {Op::sxt2, make_one<Sxt2>},
      {Op::sxt4, make_one<Sxt4>},
      {Op::zxt1, make_one<Zxt1>},
      {Op::zxt2, make_one<Zxt2>},
      {Op::zxt4, make_one<Zxt4>},
      {Op::mov_from_br, make_from_branch_register},
      {Op::mov_to_br, make_to_branch_register},
      {Op::mov_to_br_sptk, make_to_branch_register},
      {Op::mov_to_br_dptk, make_to_branch_register},
      {Op::mov_i_to_ar, specialise_application},
      {Op::mov_i_from_ar, specialise_application},
  };
  std::array<Maker, respike::ia64::kOpCount> makers = {};
  for (const auto& [op, maker] : kRows) makers[static_cast<size_t>(op)] = maker;
  return makers;
}();

}  // namespace

MicroOp specialise_integer(const Slot& s) {
  const CompareKind kind = compare_kind(s.op);
  if (kind.what != CompareKind::What::not_compare) {
    const bool plain = kind.type == CompareKind::Type::none ||
                       (kind.type == CompareKind::Type::unc && s.predicate == 0);
    return plain ? specialise_compare(s, kind) : MicroOp{};
  }
  const auto make = kMakers[static_cast<size_t>(s.op)];
  return make == nullptr ? MicroOp{} : make(s);
}

}  // namespace respike::emulator::ia64
