// Finds or makes unwind states with a deeper stack.
//
// Code that lowers the stack pointer inside a procedure, such as a probe that saves registers,
// needs the state of its surroundings with a larger CFA offset. Each pair of a state and a depth is
// made once. Example: for the state "CFA = sp + 16" and 32 bytes the result is "CFA = sp + 48",
// with the same rules, since places of saved registers are relative to the CFA. A state whose CFA
// is not relative to the stack pointer stays as it is.

#include "optimizer/ir/unwind.h"

namespace respike {

uint32_t DeeperStates::find(std::vector<CfiState>& states, uint32_t state, uint64_t stack_pointer,
                            int64_t bytes) {
  constexpr uint32_t kNotDescribed = 0xffffffff;  // kNone of program.h, which includes this
  if (state == kNotDescribed) return state;
  CfiState deeper = states[state];
  if (deeper.cfa_is_expression || deeper.cfa_register != stack_pointer) return state;
  const auto [known, fresh] =
      known_.emplace(std::pair(state, bytes), static_cast<uint32_t>(states.size()));
  if (!fresh) return known->second;
  // Offsets of the input may be anything: no signed overflow.
  deeper.cfa_offset =
      static_cast<int64_t>(static_cast<uint64_t>(deeper.cfa_offset) + static_cast<uint64_t>(bytes));
  states.push_back(std::move(deeper));
  return known->second;
}

}  // namespace respike
