#pragma once
// What a program executes in different orders of its blocks, by its counts.

#include <span>
#include <vector>

#include "optimizer/analysis/packing.h"
#include "optimizer/layout/turns.h"
#include "optimizer/layout/walk.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// What one procedure executes, or several procedures together.
struct ExecutedCode {
  double instructions = 0;  // without no-ops where a group holds several instructions
  double taken = 0;         // branches along edges, without calls, returns and jumps through tables

  double cycles(const ExecutionCosts& costs) const {
    return instructions * costs.instruction + taken * costs.taken;
  }
  ExecutedCode& operator+=(const ExecutedCode& other) {
    instructions += other.instructions;
    taken += other.taken;
    return *this;
  }
};

/// What each procedure executes in the input: the program must be as it was lifted, with counts.
std::vector<ExecutedCode> executed_in_input(const Program& program);
/// What a procedure executes if its blocks have the ends and sizes that `packing` gives.
ExecutedCode executed_in(const Program& program, ProcedureId procedure, const Packing& packing);

/// The cache lines of all blocks of movable procedures, numbered through all procedures: in the
/// input (a block that the input does not have counts at the place from which its first instruction
/// came), and in the order of a layout.
LinesOfBlocks lines_in_input(const Program& program, uint32_t line);
LinesOfBlocks lines_in_layout(const Program& program, const Layout& layout, const Packing& packing,
                              uint32_t line);

/// The cycles per block that misses cost when `trace` runs through an empty cache. Where blocks are
/// very large, only the beginning of the trace runs.
double fetch_cost(const Trace& trace, const LinesOfBlocks& lines, const CacheShape& cache);

}  // namespace respike
