#pragma once
// From the counters of an image to the counts of all edges of all its procedures.

#include <cstdint>
#include <span>
#include <vector>

#include "instrument/counter_map.h"
#include "optimizer/profile/solve_flow.h"

namespace respike {

struct ProcedureCounts {
  std::vector<uint64_t> edges;   // of the procedure's graph
  std::vector<CallLoss> losses;  // of calls that are not cut, where there are any, by block
  bool exact = true;
};

/// One result per procedure of the map. `counters`: all words of the image, added up over runs.
/// Counts are never negative: a count that would be negative becomes 0, and the procedure is not
/// exact. Close to linear time, whatever the counters hold. The map has to be sound, as
/// decode_counter_map() makes it.
std::vector<ProcedureCounts> solve_program(const CounterMap& map,
                                           std::span<const uint64_t> counters);

}  // namespace respike
