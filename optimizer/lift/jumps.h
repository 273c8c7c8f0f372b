#pragma once
// Edges of indirect jumps. Private to this folder.

#include <cstdint>
#include <span>

#include "optimizer/lift/lifter.h"

namespace respike {

/// What tracing indirect jumps may cost in total: hostile code has many jumps, each of which may
/// come from everywhere or go to everywhere. Real programs stay far below this limit.
struct Effort {
  explicit Effort(const Lifter& lifter) {
    for (const CodeSection& code : lifter.code) {
      instructions += 64 * code.marks.size();
      edges += 4 * code.marks.size();
    }
  }
  /// The budget of each part of the procedures. Few parts have large procedures, so together the
  /// parts may spend four times as much.
  Effort share_of_part() const {
    constexpr uint64_t kLess = 4;
    Effort share = *this;
    share.instructions /= kLess;
    share.edges /= kLess;
    return share;
  }
  /// Whether `amount` was left. If it was not, the budget becomes 0.
  static bool spend(uint64_t& budget, uint64_t amount) {
    const bool enough = amount <= budget;
    budget = enough ? budget - amount : 0;
    return enough;
  }

  uint64_t instructions = 10'000'000;  // looked at
  uint64_t edges = 1'000'000;          // made, or entries of tables read
};

/// `ranges`: the ranges of the procedure, as indices of Program::ranges. All other edges of all
/// procedures must exist. A jump that is not understood makes the procedure opaque.
void connect_jumps(Lifter& lifter, ProcedureId id, std::span<const uint32_t> ranges,
                   Effort& effort);

}  // namespace respike
