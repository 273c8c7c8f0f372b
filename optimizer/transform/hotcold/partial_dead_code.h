#pragma once
// Partial dead code: instructions whose results only cold code reads.

#include <cstdint>
#include <vector>

#include "optimizer/transform/hotcold/hot_procedure.h"

namespace respike {

/// What an optimization removed from the hot procedure.
struct Removed {
  uint64_t instructions = 0;
  uint64_t executed = 0;          // times that they ran, by the counts
  std::vector<uint32_t> origins;  // Instruction::origin of each, in the order of removal

  void add(const HotInstruction& instruction, uint64_t count) {
    ++instructions;
    executed += count;
    origins.push_back(instruction.instruction.origin);
  }
  Removed& operator+=(const Removed& other) {
    instructions += other.instructions;
    executed += other.executed;
    origins.insert(origins.end(), other.origins.begin(), other.origins.end());
    return *this;
  }
};

/// Removes instructions whose results no hot code reads, and puts copies of them at the start of
/// those stubs after which the results are read. At worst quadratic in the size of the hot
/// procedure.
Removed sink_partial_dead_code(HotProcedure& procedure);

}  // namespace respike
