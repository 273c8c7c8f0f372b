// Copy propagation (Aho, Sethi, Ullman: Compilers, section 10.7).
//
// Compilers move arguments to preserved registers, to have them behind calls. In the hot procedure
// the call may be gone and the register another one, but the copy is still there. Where on all ways
// to an instruction the copy was made, and neither register written since, the original is read
// instead; when nobody hot reads the copy any more, it is partially dead.

#include "optimizer/hotcold/copies.h"

#include <algorithm>

#include "optimizer/hotcold/value_ways.h"

namespace respike {
namespace {

class CopyPropagation {
 public:
  explicit CopyPropagation(HotProcedure& procedure)
      : procedure_(procedure), target_(procedure.target()) {}

  Removed run() {
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      if (procedure_.blocks[b].untouchable) continue;
      for (size_t i = 0; i < procedure_.blocks[b].code.size(); ++i) propagate(b, i);
    }
    remove_self_assignments();
    return removed_;
  }

 private:
  /// Only between registers of which one may take the other's place.
  bool is_copy(const HotInstruction& i, Register& from, Register& to) const {
    if (i.role || i.instruction.predicate != 0 || i.instruction.has_reference() ||
        !target_.code_motion()->is_pure(i.instruction) ||
        target_.value_source(i.instruction) != ValueSource::copied)
      return false;
    const Operands operands = target_.operands(i.instruction);
    if (operands.uses != 1 || operands.size != 2) return false;
    from = operands.registers[0];
    to = operands.registers[1];
    const Abi& abi = target_.abi();
    const auto is_fixed = [&](Register r) {
      return r == abi.stack_pointer || r == abi.return_address || abi.global_pointer == r;
    };
    return !is_fixed(from) && !is_fixed(to);
  }

  void propagate(uint32_t block, size_t index) {
    Register from, to;
    if (!is_copy(procedure_.blocks[block].code[index], from, to) || from == to) return;
    const ValueWays ways(procedure_, block, index, to);
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      if (procedure_.blocks[b].untouchable) continue;
      std::vector<HotInstruction>& code = procedure_.blocks[b].code;
      uint8_t state = ways.at_start(b);
      for (size_t i = 0; i < code.size(); ++i) {
        if (state == ValueWays::kReady && !code[i].role && may_read_other(code[i].instruction) &&
            uses_of(target_.operands(code[i].instruction)).contains(to))
          target_.code_motion()->rename(code[i].instruction, to, from, true, false);
        state = ways.behind(b, i, state);
      }
    }
  }

  /// By which register a call or jump goes may be known to where it leads.
  bool may_read_other(const Instruction& instruction) const {
    const ControlFlow flow = target_.control_flow(instruction);
    return flow == ControlFlow::none || flow == ControlFlow::conditional_branch;
  }

  void remove_self_assignments() {
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      HotBlock& block = procedure_.blocks[b];
      if (block.untouchable) continue;
      std::erase_if(block.code, [&](const HotInstruction& i) {
        Register from, to;
        if (!is_copy(i, from, to) || from != to) return false;
        removed_.add(block.count);
        return true;
      });
    }
  }

  HotProcedure& procedure_;
  const Target& target_;
  Removed removed_;
};

}  // namespace

Removed propagate_copies(HotProcedure& procedure) {
  return CopyPropagation(procedure).run();
}

}  // namespace respike
