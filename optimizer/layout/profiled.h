#pragma once
// Layouts by counts.

#include "optimizer/ir/program.h"

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
    segments,      // the same with every hot chain a piece of its own
    colour,        // order_for_cache(): what takes turns shares few lines of the cache
    cache_sorted,  // place_cache_directed()
  };
  Blocks blocks = Blocks::original;
  bool split = false;  // hot and cold parts of a procedure are pieces of their own
  Pieces pieces = Pieces::original;
  double cold_share = 0.002;  // of all executed instructions that cold code may run, see hotness.h
};

/// An order of all movable code by the counts that `program` carries. Hot code comes first; then,
/// in the order of the input, with `split` all cold code, what else there is of procedures that
/// ran, and what never ran. Of a large text, half of what is not hot comes before hot code,
/// mirrored.
Layout profiled_layout(const Program& program, const LayoutOptions& options);

}  // namespace respike
