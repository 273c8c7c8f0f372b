#pragma once
// Temporal relations: which pieces of code take turns.

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/layout/calls.h"
#include "optimizer/layout/cluster.h"

namespace respike {

using PiecesOf = std::function<std::pair<uint32_t, uint32_t>(ProcedureId, BlockId)>;

/// For every two pieces of code how often one ran between two runs of the other that were near each
/// other: fewer than `window` bytes of other code between them. Where such pieces share cache lines
/// they throw each other out (Gloy and Smith, "Procedure placement using temporal-ordering
/// information", TOPLAS 1999, section 4, the temporal-relation graph). Runs are made up, see
/// walk.h. `pieces_of`: the pieces that hold a block, indices
/// of `sizes`, half-open; none for code that is not looked at.
/// Takes 2 bytes for every two pieces.
std::vector<Affinity> find_turns(const Program& program, std::span<const CodeCall> calls,
                                 const PiecesOf& pieces_of, std::span<const uint64_t> sizes,
                                 uint64_t window);

}  // namespace respike
