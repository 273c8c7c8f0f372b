#pragma once
// The loops of a program, sorted by the instructions executed in them.

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A natural loop (optimizer/analysis/loops.h) that ran. Addresses are those of the image.
struct HotLoop {
  std::string procedure;
  uint64_t procedure_address = 0;
  uint64_t address = 0;   // of the header
  uint64_t executed = 0;  // instructions in its blocks, inner loops included
  uint64_t turns = 0;     // executions of the header
  uint64_t entries = 0;
  uint32_t depth = 1;   // 1: not inside another loop
  uint32_t blocks = 0;  // blocks that ran, inner loops included

  double trip_count() const { return double(turns) / double(entries); }
  bool operator==(const HotLoop&) const = default;
};

struct HotLoops {
  std::vector<HotLoop> loops;  // loops that ran, by procedure
  uint64_t executed = 0;       // instructions of the whole program
};

/// `program` has counts.
HotLoops find_hot_loops(const Program& program);

}  // namespace respike
