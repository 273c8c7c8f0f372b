#pragma once
// What a program executes in one order of its blocks or another, by its counts.

#include <span>
#include <vector>

#include "optimizer/analysis/packing.h"
#include "optimizer/layout/turns.h"
#include "optimizer/layout/walk.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// Of one procedure, or of a sum of them.
struct ExecutedCode {
  double instructions = 0;  // without no-ops where several instructions share a group
  double taken = 0;  // branches along edges; calls, returns and jumps by tables are not counted

  double cycles(const ExecutionCosts& costs) const {
    return instructions * costs.instruction + taken * costs.taken;
  }
  ExecutedCode& operator+=(const ExecutedCode& other) {
    instructions += other.instructions;
    taken += other.taken;
    return *this;
  }
};

/// By procedure, as the input has them: the program must be as it was lifted, with counts.
std::vector<ExecutedCode> executed_in_input(const Program& program);
/// A procedure whose blocks end and are as large as `packing` says.
ExecutedCode executed_in(const Program& program, ProcedureId procedure, const Packing& packing);

/// Where all blocks of movable procedures stand, by number through all procedures: in the input,
/// with blocks that the input does not have where their first instruction came from, and in the
/// order of a layout.
LinesOfBlocks lines_in_input(const Program& program, uint32_t line);
LinesOfBlocks lines_in_layout(const Program& program, const Layout& layout, const Packing& packing,
                              uint32_t line);

/// The cycles that misses cost per block when `trace` runs through an empty cache. Looks at the
/// beginning of the trace only where blocks are very large.
double fetch_cost(const Trace& trace, const LinesOfBlocks& lines, const CacheShape& cache);

}  // namespace respike
