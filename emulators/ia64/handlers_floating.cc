// Specialised handlers of multiply-add, the work of nearly all floating-point code.
//
// The arithmetic itself handles NaTVal and special values; a specialised handler only saves the
// choice of the function.

#include "emulators/ia64/floating_arithmetic.h"
#include "emulators/ia64/handlers.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;
using F = FloatingRegister;

using Add = FloatingInterruption (*)(F&, Precision, unsigned, const F&, const F&, const F&,
                                     uint64_t&);
using Multiply = FloatingInterruption (*)(F&, Precision, unsigned, const F&, const F&, uint64_t&);

template <Add add, Precision precision>
const MicroOp* multiply_add(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->op = op;
  const auto interruption = add(cpu->fr[op->a], precision, static_cast<unsigned>(op->immediate),
                                cpu->fr[op->c], cpu->fr[op->d], cpu->fr[op->b], cpu->fpsr);
  if (__builtin_expect(interruption != 0, 0)) raise_floating(*cpu, interruption);
  RESPIKE_NEXT;
}

template <Multiply multiply, Precision precision>
const MicroOp* product(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->op = op;
  const auto interruption =
      multiply(cpu->fr[op->a], precision, static_cast<unsigned>(op->immediate), cpu->fr[op->c],
               cpu->fr[op->d], cpu->fpsr);
  if (__builtin_expect(interruption != 0, 0)) raise_floating(*cpu, interruption);
  RESPIKE_NEXT;
}

/// A multiplication if the addend is f0.
template <Add add, Multiply multiply, Precision precision>
Handler choose(const Slot& slot) {
  return slot.b == 0 ? product<multiply, precision> : multiply_add<add, precision>;
}

}  // namespace

MicroOp specialise_floating(const Slot& slot) {
  using enum Precision;
  MicroOp op;
  op.a = slot.a;
  op.b = slot.b;
  op.c = slot.c;
  op.d = slot.d;
  op.immediate = slot.immediate & 3;
  switch (slot.op) {
    case Op::fma:
      op.run = choose<fma, fmpy, dynamic>(slot);
      break;
    case Op::fma_s:
      op.run = choose<fma, fmpy, single_precision>(slot);
      break;
    case Op::fma_d:
      op.run = choose<fma, fmpy, double_precision>(slot);
      break;
    case Op::fms:
      op.run = choose<fms, fmpy, dynamic>(slot);
      break;
    case Op::fms_s:
      op.run = choose<fms, fmpy, single_precision>(slot);
      break;
    case Op::fms_d:
      op.run = choose<fms, fmpy, double_precision>(slot);
      break;
    case Op::fnma:
      op.run = choose<fnma, fnmpy, dynamic>(slot);
      break;
    case Op::fnma_s:
      op.run = choose<fnma, fnmpy, single_precision>(slot);
      break;
    case Op::fnma_d:
      op.run = choose<fnma, fnmpy, double_precision>(slot);
      break;
    default:
      break;
  }
  return op;
}

}  // namespace respike::emulator::ia64
