#include "instrument/code_facts.h"

#include <algorithm>

namespace respike {

CodeFacts::CodeFacts(const Program& program)
    : calls_(program), registers_(program, calls_), gp_(program, calls_) {}

std::vector<PointFacts> CodeFacts::points(ProcedureId procedure, BlockId block) const {
  const auto live = registers_.live_points(procedure, block);
  const auto gp = gp_.valid_points(procedure, block);
  std::vector<PointFacts> result;
  for (size_t i = 0; i + 1 < live.size(); ++i) result.push_back({live[i], gp[i]});
  return result;
}

bool CodeFacts::first_block_entered(ProcedureId procedure) const {
  const auto outside = calls_.outside_entries_of(procedure);
  const auto callers = calls_.callers_of(procedure);
  return std::find(outside.begin(), outside.end(), 0) != outside.end() ||
         std::any_of(callers.begin(), callers.end(),
                     [&](uint32_t call) { return calls_.calls()[call].entry == 0; });
}

}  // namespace respike
