// Numbers of blocks are sums of the numbers of blocks of procedures: with procedures of 3, 1 and 4
// blocks, block 2 of the last one has the number 3 + 1 + 2 = 6.

#include "optimizer/ir/lookup.h"

#include <algorithm>

namespace respike {

BlockNumbers::BlockNumbers(const Program& program) {
  first_.reserve(program.procedures.size() + 1);
  for (const Procedure& procedure : program.procedures)
    first_.push_back(first_.back() + static_cast<uint32_t>(procedure.blocks.size()));
}

std::pair<ProcedureId, BlockId> BlockNumbers::at(uint32_t number) const {
  // Procedures without blocks share their first number with the next procedure: take the last one.
  const auto next = std::upper_bound(first_.begin(), first_.end(), number);
  return {static_cast<ProcedureId>(next - first_.begin() - 1), number - *std::prev(next)};
}

}  // namespace respike
