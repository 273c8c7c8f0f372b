// General handlers: each interprets one instruction completely, as the architecture defines it.
//
// In a block of specialised handlers, a general handler that makes the first NaT leaves the block
// after its instruction. The loop continues with blocks that check NaT bits.

#include "emulators/ia64/handlers.h"
#include "emulators/ia64/process.h"
#include "optimizer/machine/ia64/meaning.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::Op;
using respike::ia64::Slot;
using Execute = void (*)(Cpu&, const GeneralInstruction&);

template <Execute execute_one, bool nat>
const MicroOp* general_op(const MicroOp* op, Cpu* cpu, uint64_t*) {
  cpu->op = op;
  const auto& instruction = *static_cast<const GeneralInstruction*>(op->data);
  execute_one(*cpu, instruction);
  if (!nat && __builtin_expect(cpu->nat_count != 0, 0)) {
    cpu->thread->cache.uncount(op, cpu->feed);
    cpu->ip = instruction.next;
    return leave(cpu, nullptr);
  }
  RESPIKE_GO(op + 1, cpu->frame);
}

/// Executes an instruction after which decoded code may be stale.
const MicroOp* general_leave(const MicroOp* op, Cpu* cpu, uint64_t*) {
  cpu->op = op;
  const auto& instruction = *static_cast<const GeneralInstruction*>(op->data);
  execute_system(*cpu, instruction);
  cpu->thread->cache.uncount(op, cpu->feed);
  cpu->ip = instruction.next;
  return leave(cpu, nullptr);
}

/// Branches leave their block, checks only if they branch.
const MicroOp* general_branch(const MicroOp* op, Cpu* cpu, uint64_t*) {
  cpu->op = op;
  execute_branch(*cpu, *static_cast<const GeneralInstruction*>(op->data));
  return leave(cpu, nullptr);
}
const MicroOp* general_check(const MicroOp* op, Cpu* cpu, uint64_t* frame) {
  cpu->op = op;
  const auto& instruction = *static_cast<const GeneralInstruction*>(op->data);
  execute_branch(*cpu, instruction);
  if (cpu->ip != instruction.next) return leave(cpu, nullptr);
  RESPIKE_NEXT;
}

template <bool nat>
Handler handler_of(const Slot& slot) {
  switch (family_of(slot.op)) {
    case Family::integer:
      return general_op<execute_integer, nat>;
    case Family::compare:
      return general_op<execute_compare, nat>;
    case Family::memory:
      return general_op<execute_memory, nat>;
    case Family::floating:
      return general_op<execute_floating, nat>;
    case Family::system:
      if (slot.op == Op::fc || slot.op == Op::fc_i || slot.op == Op::srlz_i) return general_leave;
      return general_op<execute_system, nat>;
    case Family::branch:
      return ends_block(slot.op) ? general_branch : general_check;
    default:
      return nullptr;
  }
}

}  // namespace

bool ends_block(Op op) {
  return family_of(op) == Family::branch && !respike::ia64::is_check(op);
}

Handler general_handler(const Slot& slot, bool nat) {
  return nat ? handler_of<true>(slot) : handler_of<false>(slot);
}

}  // namespace respike::emulator::ia64
