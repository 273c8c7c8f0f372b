// Copy propagation (Aho, Sethi, Ullman: Compilers, section 10.7).
//
// Compilers copy arguments to preserved registers to keep them over calls. In the hot procedure the
// call may be gone, but the copy is still there. Where on all paths to an instruction the copy was
// executed and neither register was written since, the instruction reads the source register
// instead. When no hot code reads the target register any more, the copy is partially dead.
//
// Example: mov $16,$9; (the call is in a cold block); addq $9,1,$0. The addq now reads $16, and the
// mov sinks into the stub before the call.

#include "optimizer/transform/hotcold/copies.h"

#include <algorithm>

#include "optimizer/transform/hotcold/value_ways.h"

namespace respike {
namespace {

class CopyPropagation {
 public:
  explicit CopyPropagation(HotProcedure& procedure)
      : procedure_(procedure), machine_(procedure.machine()) {}

  Removed run() {
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      if (procedure_.blocks[b].untouchable) continue;
      for (size_t i = 0; i < procedure_.blocks[b].code.size(); ++i) propagate(b, i);
    }
    remove_self_assignments();
    return removed_;
  }

 private:
  /// The copy that an instruction is, if the two registers may replace each other.
  std::optional<Copy> copy_in(const HotInstruction& i) const {
    const auto copy = i.role ? std::nullopt : as_copy(machine_, i.instruction);
    const RegisterSet fixed = registers_with_a_role(machine_);
    if (!copy || fixed.contains(copy->from) || fixed.contains(copy->to)) return std::nullopt;
    return copy;
  }

  void propagate(uint32_t block, size_t index) {
    const auto copy = copy_in(procedure_.blocks[block].code[index]);
    if (!copy || copy->from == copy->to) return;
    const auto [from, to] = *copy;
    const ValueWays ways(procedure_, block, index, to);
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      if (procedure_.blocks[b].untouchable) continue;
      std::vector<HotInstruction>& code = procedure_.blocks[b].code;
      uint8_t state = ways.at_start(b);
      for (size_t i = 0; i < code.size(); ++i) {
        if (state == ValueWays::kReady && !code[i].role && may_read_other(code[i].instruction) &&
            uses_of(machine_.operands(code[i].instruction)).contains(to))
          machine_.rewrite->rename(code[i].instruction, to, from, true, false);
        state = ways.behind(b, i, state);
      }
    }
  }

  /// False for calls and jumps: the code to which they lead may rely on the register with its
  /// address.
  bool may_read_other(const Instruction& instruction) const {
    const ControlFlow flow = machine_.facts(instruction).flow;
    return flow == ControlFlow::none || flow == ControlFlow::conditional_branch;
  }

  void remove_self_assignments() {
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      HotBlock& block = procedure_.blocks[b];
      if (block.untouchable) continue;
      std::erase_if(block.code, [&](const HotInstruction& i) {
        const auto copy = copy_in(i);
        if (!copy || copy->from != copy->to) return false;
        removed_.add(i, block.count);
        return true;
      });
    }
  }

  HotProcedure& procedure_;
  const Machine& machine_;
  Removed removed_;
};

}  // namespace

Removed propagate_copies(HotProcedure& procedure) {
  return CopyPropagation(procedure).run();
}

}  // namespace respike
