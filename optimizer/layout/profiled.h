#pragma once
// Layouts by counts.

#include <span>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/layout/layout_cost.h"

namespace respike {

struct LayoutOptions {
  enum class Blocks {
    original,  // in the order of the input
    chain,     // chain_blocks()
    ext_tsp,   // ext_tsp_blocks(); in very large procedures chain_blocks()
  };
  enum class Pieces {
    original,      // in the order of the input
    place,         // place_by_affinity(), whole procedures or their hot parts
    colour,        // order_for_cache(): rows that take turns share few lines of the cache; padding
                   // before pieces that then issue faster (phases.h)
    cache_sorted,  // place_cache_directed()
  };
  Blocks blocks = Blocks::original;
  bool split = false;  // hot and cold parts of a procedure are pieces of their own
  Pieces pieces = Pieces::original;
  double cold_share = 0.002;  // of all executed instructions that cold code may run, see hotness.h
};

/// What a layout is expected to cost by the counts, and what the input costs.
struct Forecast {
  struct Cost {
    ExecutedCode executed;
    double misses = 0;  // cycles, on a random walk
    double cycles = 0;  // of instructions, taken branches and misses
  };
  struct Change {
    ProcedureId procedure = kNone;
    std::string name;
    ExecutedCode input, output;
    bool kept = false;  // the wanted order costs more, so another order was taken
  };
  Cost input, output;              // of all movable code
  std::vector<Change> procedures;  // of procedures that ran
  double unknown_calls = 0;        // calls into code that has no place in this layout

  bool is_costlier() const { return output.cycles > input.cycles; }
};

/// An order of all movable code by the counts that `program` carries. Hot code comes first; then,
/// in the order of the input, with `split` all cold code, then the idle code of procedures that
/// ran, then procedures that never ran. Where branches reach all code, cold code is in an order by
/// calls and heat. In a large text, half of the code that is not hot comes before hot code,
/// mirrored.
///
/// `input`: what the input executed, by procedure (executed_in_input()), or empty. Where the wanted
/// order of a procedure costs more than the input, the procedure gets another order that does not,
/// if there is such an order. `forecast`, if not null and `input` is given, gets the expected
/// costs.
Layout profiled_layout(const Program& program, const LayoutOptions& options,
                       std::span<const ExecutedCode> input = {}, Forecast* forecast = nullptr);

}  // namespace respike
