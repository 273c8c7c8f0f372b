// Example: `parse` executed 40 M of 100 M instructions in profile A. In profile B, of a newer build
// in which the procedure is named `parse_line`, it executed 60 M of 150 M. Its row has both names,
// a change of 20 M, and the shares 40% and 40%.

#include "views/profile_differences.h"

#include <algorithm>
#include <cmath>

#include "optimizer/profile/matching/procedure_pairs.h"
#include "views/profile_figures.h"

namespace respike {
namespace {

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : double(part) / double(whole);
}

}  // namespace

std::vector<ProcedureDifference> compare_profiles(const Profile& a, const Profile& b) {
  const uint64_t all_a = figures_of(a).instructions, all_b = figures_of(b).instructions;
  std::vector<ProcedureDifference> rows(a.procedures.size());
  for (uint32_t p = 0; p < rows.size(); ++p) {
    const ProcedureProfile& procedure = a.procedures[p];
    rows[p].a = p;
    rows[p].name = procedure.name;
    rows[p].instructions_a = procedure.instructions();
    rows[p].entries_a = procedure.entries();
    rows[p].share_a = share(rows[p].instructions_a, all_a);
  }
  const std::vector<uint32_t> partners = pair_procedures(a, b);
  for (uint32_t p = 0; p < partners.size(); ++p) {
    const ProcedureProfile& procedure = b.procedures[p];
    const bool paired = partners[p] != kNone;
    ProcedureDifference& row = paired ? rows[partners[p]] : rows.emplace_back();
    row.b = p;
    if (!paired)
      row.name = procedure.name;
    else if (procedure.name != row.name)
      row.other_name = procedure.name;
    row.instructions_b = procedure.instructions();
    row.entries_b = procedure.entries();
    row.share_b = share(row.instructions_b, all_b);
  }
  std::erase_if(rows, [](const ProcedureDifference& row) {
    return row.instructions_a == 0 && row.instructions_b == 0;
  });
  std::ranges::stable_sort(rows, std::greater(),
                           [](const ProcedureDifference& row) { return std::abs(row.change()); });
  return rows;
}

}  // namespace respike
