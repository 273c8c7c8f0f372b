#pragma once
// What the instructions of a block do to registers, and how a block ends; private to this folder.

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// What the instructions of a block do to registers, without the callee of a call at the end.
template <size_t W>
struct BlockSummary {
  using Set = BasicRegisterSet<W>;

  Set used;     // read before they are written
  Set defined;  // certainly written
  Set read;     // read anywhere in the block
  Set pending;  // written, and not read by the rest of the block
};

/// Summarizes a block; adds all registers that it may write to `killed`.
template <size_t W>
BlockSummary<W> summarize(const Machine& machine, const BasicBlock& block,
                          BasicRegisterSet<W>& killed) {
  BlockSummary<W> summary;
  for (uint32_t i = block.instructions.size(); i-- > 0;) {
    const Instruction& instruction = block.instructions[i];
    if (instruction.is_pseudo()) continue;
    if (instruction.opcode == kInvalid)
      summary.used = summary.read = BasicRegisterSet<W>::first(machine.register_count);
    const Operands operands = machine.operands(instruction);
    for (unsigned k = operands.uses; k < operands.size; ++k) {
      const Register r = operands.registers[k];
      killed.add(r);
      if (!summary.defined.contains(r) && !summary.read.contains(r)) summary.pending.add(r);
      if (instruction.predicate != 0) continue;
      summary.defined.add(r);
      summary.used.remove(r);
    }
    for (unsigned k = 0; k < operands.uses; ++k) {
      summary.used.add(operands.registers[k]);
      summary.read.add(operands.registers[k]);
    }
  }
  return summary;
}

/// Which other code may run after the last instruction of a block, besides its successors.
enum class End : uint8_t {
  plain,         // none
  leaves,        // the caller: the block returns
  call,          // a callee that is known
  unknown_call,  // an unknown callee that follows the calling standard
  custom_call,   // an unknown callee that does not follow the standard
  tail,          // a known procedure, by a jump
  unknown_tail,  // an unknown procedure, by a jump
  anything,      // unknown code: the end of the block is not understood
};

/// The end of a block with a Call at its end.
inline End end_of(const Call& call) {
  const bool tail = call.kind == Call::Kind::tail;
  if (call.known()) return tail ? End::tail : End::call;
  if (!call.standard) return tail ? End::anything : End::custom_call;
  return tail ? End::unknown_tail : End::unknown_call;
}

/// The end of a block without a Call at its end.
inline End end_of(const Machine& machine, const Procedure& procedure, const BasicBlock& block) {
  if (block.instructions.empty()) return block.successors.empty() ? End::anything : End::plain;
  // A signal return restores all registers from memory; using that would gain nothing.
  if (procedure.state == Procedure::State::pinned &&
      machine.is_signal_return(block.instructions.span()))
    return End::anything;
  const bool refers = block.instructions.back().has_reference();
  switch (machine.facts(block.instructions.back()).flow) {
    case ControlFlow::return_jump:
      return End::leaves;
    case ControlFlow::none:
      return block.successors.empty() ? End::anything : End::plain;
    case ControlFlow::conditional_branch:
      return block.successors.size() < 2 && !refers ? End::anything : End::plain;
    case ControlFlow::branch:
      return block.successors.empty() && !refers ? End::anything : End::plain;
    default:
      return End::plain;
  }
}

}  // namespace respike
