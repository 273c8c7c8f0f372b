// Partial dead code elimination.
//
// An instruction that only computes a register which no hot code reads can wait until control
// leaves for the cold part: it moves to the stubs. That is right for a stub if
//
// - on every path to the stub this instruction is the last writer of its result, and
// - no register that it reads is written between it and the stub.
//
// If another instruction is the last writer on every path, the stub does not need this instruction.
// In all other cases, if the result is live in the stub, the instruction stays. Instructions move
// one at a time, and the program is right after each move. Each goes to the start of the stub, so
// instructions that moved there before find the registers they read. The code is walked backward,
// so instructions that only feed moved instructions move as well.
//
// Example: A: t = a + b; B: branch to the cold block C, which reads t; D writes t. No hot code
// reads t, so the addition moves to the stub on the edge from B to C.
//
// A result that no stub reads either is dead; its instruction is removed in the same way.
//
// Source: Knoop, Ruething, Steffen: Partial Dead Code Elimination, PLDI 1994, restricted to the
// edges that leave the hot part. Limits: loads stay, since nothing is known about memory.

#include "optimizer/transform/hotcold/partial_dead_code.h"

#include <algorithm>
#include <optional>

#include "optimizer/transform/hotcold/value_ways.h"

namespace respike {
namespace {

class Sinker {
 public:
  explicit Sinker(HotProcedure& procedure)
      : procedure_(procedure),
        machine_(procedure.machine()),
        fixed_(registers_with_a_role(machine_)) {
    const auto& states = procedure.program->unwind.states;
    for (const HotBlock& block : procedure.blocks)
      if (block.end_state < states.size() &&
          states[block.end_state].cfa_register < machine_.register_count)
        fixed_.add(static_cast<Register>(states[block.end_state].cfa_register));
  }

  Removed run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const uint32_t block : procedure_.graph.postorder)
        if (!procedure_.is_stub(block) && !procedure_.blocks[block].untouchable)
          changed |= sink_from(block);
    }
    return removed_;
  }

 private:
  /// The register that an instruction computes, if the instruction does nothing else.
  std::optional<Register> result_of(const HotInstruction& moved) const {
    const Instruction& instruction = moved.instruction;
    if (moved.role || instruction.predicate != 0 || instruction.has_reference() ||
        !machine_.rewrite->is_pure(instruction))
      return std::nullopt;
    const Operands operands = machine_.operands(instruction);
    if (operands.size != operands.uses + 1) return std::nullopt;
    const Register result = operands.registers[operands.uses];
    if (fixed_.contains(result)) return std::nullopt;
    return result;
  }

  bool sink_from(uint32_t number) {
    bool changed = false;
    HotBlock& block = procedure_.blocks[number];
    if (live_.empty()) live_ = live_at_starts(procedure_, false);
    RegisterSet live = live_at_end(procedure_, number, live_);
    for (size_t i = block.code.size(); i-- > 0;) {
      const HotInstruction candidate = block.code[i];
      const auto result = result_of(candidate);
      if (result && !live.contains(*result) && sink(number, i, *result)) {
        removed_.add(candidate, block.count);
        changed = true;
        continue;  // without the instruction `live` stays the same
      }
      step_back(procedure_, candidate, live);
    }
    if (changed) live_.clear();
    return changed;
  }

  /// Moves instruction `index` of a block to the stubs that need it; false if it has to stay.
  bool sink(uint32_t number, size_t index, Register result) {
    const ValueWays ways(procedure_, number, index, result);
    return move_to_stubs(procedure_, number, index, ways,
                         [&](uint32_t stub) { return is_live(stub, result); });
  }

  /// Whether a register is live at the start of a stub.
  bool is_live(uint32_t stub, Register reg) const {
    RegisterSet live = procedure_.live_behind_stub(stub);
    const std::vector<HotInstruction>& code = procedure_.blocks[stub].code;
    for (size_t i = code.size(); i-- > 0;) step_back(procedure_, code[i], live);
    return live.contains(reg);
  }

  HotProcedure& procedure_;
  const Machine& machine_;
  RegisterSet fixed_;              // registers with a role, and the frame pointer
  std::vector<RegisterSet> live_;  // at starts, as if stubs were never entered; empty: not computed
  Removed removed_;
};

}  // namespace

Removed sink_partial_dead_code(HotProcedure& procedure) {
  return Sinker(procedure).run();
}

}  // namespace respike
