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
