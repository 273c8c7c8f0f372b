// Specialised handlers of integer loads and stores, and of the frequent floating-point loads and
// stores.
//
// Each handler notes its operation in cpu.op before the access, so that a fault can be attributed
// to its instruction, and changes the base register after the access. Acquire and release need
// nothing more on x86-64, whose loads and stores have that order. A load that checks an advanced
// load (ld.c) is an ordinary load: it reads the value that a hit would leave in the register.

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/memory_access.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;

enum Update { kNone, kImmediate, kRegister };

template <typename T, Update update, bool A, bool C>
const MicroOp* load(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->op = op;
  uint64_t& base = reg<C>(cpu, frame, op->c);
  const T value = load_guest<T>(*cpu, base);
  reg<A>(cpu, frame, op->a) = value;
  if constexpr (update == kImmediate) base += static_cast<uint64_t>(op->immediate);
  if constexpr (update == kRegister) base += general(*cpu, op->b);
  RESPIKE_NEXT;
}

template <typename T, Update update, bool B, bool C>
const MicroOp* store(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->op = op;
  uint64_t& base = reg<C>(cpu, frame, op->c);
  store_guest<T>(*cpu, base, static_cast<T>(reg<B>(cpu, frame, op->b)));
  if constexpr (update == kImmediate) base += static_cast<uint64_t>(op->immediate);
  RESPIKE_NEXT;
}

struct Single {};
struct Double {};
struct Integer {};
struct Spilled {};

template <typename Format>
FloatingRegister load_floating(Cpu& cpu, uint64_t address) {
  if constexpr (std::is_same_v<Format, Single>)
    return from_single(load_guest<uint32_t>(cpu, address));
  else if constexpr (std::is_same_v<Format, Double>)
    return from_double(load_guest<uint64_t>(cpu, address));
  else if constexpr (std::is_same_v<Format, Integer>)
    return from_integer(load_guest<uint64_t>(cpu, address));
  else {
    const auto words = load_guest<FloatingRegister>(cpu, address);
    return from_spill(words.significand, words.sign_exponent);
  }
}

template <typename Format, bool C>
const MicroOp* load_f(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->op = op;
  uint64_t& base = reg<C>(cpu, frame, op->c);
  cpu->fr[op->a] = load_floating<Format>(*cpu, base);
  base += static_cast<uint64_t>(op->immediate);
  RESPIKE_NEXT;
}

template <bool C>
const MicroOp* spill_f(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->op = op;
  uint64_t& base = reg<C>(cpu, frame, op->c);
  store_guest(*cpu, base, cpu->fr[op->b]);
  base += static_cast<uint64_t>(op->immediate);
  RESPIKE_NEXT;
}

constexpr bool stacked(uint8_t number) {
  return number >= 32;
}
constexpr uint8_t within(uint8_t number) {
  return number >= 32 ? number - 32 : number;
}

template <typename T, Update update>
Handler load_handler(bool a, bool c) {
  static constexpr Handler kTable[4] = {load<T, update, 0, 0>, load<T, update, 0, 1>,
                                        load<T, update, 1, 0>, load<T, update, 1, 1>};
  return kTable[a * 2 + c];
}
template <typename T, Update update>
Handler store_handler(bool b, bool c) {
  static constexpr Handler kTable[4] = {store<T, update, 0, 0>, store<T, update, 0, 1>,
                                        store<T, update, 1, 0>, store<T, update, 1, 1>};
  return kTable[b * 2 + c];
}

template <Update update>
Handler sized_load(unsigned size, bool a, bool c) {
  switch (size) {
    case 0:
      return load_handler<uint8_t, update>(a, c);
    case 1:
      return load_handler<uint16_t, update>(a, c);
    case 2:
      return load_handler<uint32_t, update>(a, c);
    default:
      return load_handler<uint64_t, update>(a, c);
  }
}
template <Update update>
Handler sized_store(unsigned size, bool b, bool c) {
  switch (size) {
    case 0:
      return store_handler<uint8_t, update>(b, c);
    case 1:
      return store_handler<uint16_t, update>(b, c);
    case 2:
      return store_handler<uint32_t, update>(b, c);
    default:
      return store_handler<uint64_t, update>(b, c);
  }
}

template <typename Format>
Handler floating_load_handler(bool c) {
  return c ? load_f<Format, true> : load_f<Format, false>;
}

MicroOp specialise_floating_load(const Slot& s) {
  MicroOp op;
  if (s.d >> 4 != 0) return op;
  switch (s.d >> 2 & 3) {
    case 0:
      return op;
    case 1:
      op.run = floating_load_handler<Integer>(stacked(s.c));
      break;
    case 2:
      op.run = floating_load_handler<Single>(stacked(s.c));
      break;
    default:
      op.run = floating_load_handler<Double>(stacked(s.c));
      break;
  }
  op.a = s.a;
  op.c = within(s.c);
  op.immediate = s.op == Op::ldf_imm ? s.immediate : 0;
  return op;
}

}  // namespace

MicroOp specialise_memory(const Slot& s) {
  MicroOp op;
  const unsigned size = s.d >> 2 & 3, type = s.d >> 4;
  op.a = within(s.a);
  op.c = within(s.c);
  op.immediate = s.immediate;
  switch (s.op) {
    case Op::ld:
    case Op::ld_reg:
    case Op::ld_imm:
      if (type >= 1 && type <= 3) return {};  // speculative or advanced
      op.b = s.b;
      if (s.op == Op::ld) op.run = sized_load<kNone>(size, stacked(s.a), stacked(s.c));
      if (s.op == Op::ld_reg) op.run = sized_load<kRegister>(size, stacked(s.a), stacked(s.c));
      if (s.op == Op::ld_imm) op.run = sized_load<kImmediate>(size, stacked(s.a), stacked(s.c));
      return op;
    case Op::st:
      op.b = within(s.b);
      op.run = sized_store<kNone>(size, stacked(s.b), stacked(s.c));
      return op;
    case Op::st_imm:
      op.b = within(s.b);
      op.run = sized_store<kImmediate>(size, stacked(s.b), stacked(s.c));
      return op;
    case Op::ldf:
    case Op::ldf_imm:
      return specialise_floating_load(s);
    case Op::ldf_fill:
    case Op::ldf_fill_imm:
      op.a = s.a;
      op.run = floating_load_handler<Spilled>(stacked(s.c));
      op.immediate = s.op == Op::ldf_fill_imm ? s.immediate : 0;
      return op;
    case Op::stf_spill:
    case Op::stf_spill_imm:
      op.b = s.b;
      op.run = stacked(s.c) ? spill_f<true> : spill_f<false>;
      op.immediate = s.op == Op::stf_spill_imm ? s.immediate : 0;
      return op;
    default:
      return {};
  }
}

}  // namespace respike::emulator::ia64
