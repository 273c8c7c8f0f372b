#pragma once
// The distinct unwind states of an image: readers meet the same state at many addresses.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimizer/ir/unwind.h"

namespace respike {

inline constexpr size_t kMaxExpressionBytes = 4096;  // of one state

size_t expression_bytes(const CfiState& state);

/// Equal states have one index in UnwindTables::states.
class StateTable {
 public:
  /// `budget` limits the rules that are stored, so that a hostile file cannot exhaust memory.
  StateTable(std::vector<CfiState>& states, uint64_t budget);

  /// The index of `state`. Throws Error when the budget is spent.
  uint32_t index_of(const CfiState& state);

 private:
  void grow();

  std::vector<CfiState>& states_;
  std::vector<uint64_t> hashes_;  // of states_
  std::vector<uint32_t> slots_;   // open addressing; a power of two
  uint64_t budget_;
};

}  // namespace respike
