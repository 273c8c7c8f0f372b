// The unwind states show where a prolog is: in a block that starts with the state of an entry, each
// further instruction of the prolog is followed by a state that is longer by that instruction.
//
// Example: `lda sp,-16(sp); stq ra,0(sp); bsr ra,g` has a place only before bsr.

#include "instrument/prolog_places.h"

#include <algorithm>

#include "optimizer/image/image.h"
#include "optimizer/machine/machine.h"
#include "optimizer/unwind/unwind.h"

namespace respike {

bool reads_prologs(const Program& program) {
  const UnwindFormat* format =
      program.image == nullptr ? nullptr : unwind_format_of(*program.image);
  return format != nullptr && format->reads_prologs;
}

void close_prologs(const Program& program, const Procedure& procedure, const BasicBlock& block,
                   std::vector<bool>& open) {
  const Machine& machine = *program.machine;
  uint32_t state = block.cfi_state, end = 0;  // of the prolog
  for (uint32_t i = 0; i < block.instructions.size(); ++i)
    if (block.instructions[i].is_pseudo()) {
      state = static_cast<uint32_t>(block.instructions[i].immediate);
      end = i + 1;
    }
  const Edge* next = block.edge(Edge::Kind::fall_through);
  const bool all_prolog = state != kNone && next != nullptr &&
                          machine.facts(block.instructions.back()).flow == ControlFlow::none &&
                          procedure.blocks[next->target].cfi_state != state;
  if (all_prolog) end = static_cast<uint32_t>(open.size());
  std::fill_n(open.begin(), end, false);
  bool changed = false;
  for (uint32_t i = end; i < open.size(); ++i) {
    if (changed) open[i] = false;
    const Operands operands = machine.operands(block.instructions[i]);
    const Register* const last = operands.registers + operands.size;
    changed |=
        std::find(operands.registers + operands.uses, last, machine.abi.stack_pointer) != last;
  }
}

}  // namespace respike
