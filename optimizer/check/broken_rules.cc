// Example: the dynamic linker takes the distance from the symbols to their names for the size of
// the table of symbols. An output that has something between the two would be wrong; an input that
// has it is one that no loader measures.

#include "optimizer/check/broken_rules.h"

#include "optimizer/image/image_rules.h"
#include "optimizer/unwind/unwind.h"

namespace respike {
namespace {

using Violation = std::optional<std::string>;

Violation new_violation(std::span<const ImageRule> rules, const Image& before, const Image& after) {
  for (const ImageRule& rule : rules)
    if (Violation violation = rule.violation(after); violation && !rule.violation(before))
      return violation;
  return std::nullopt;
}

}  // namespace

Violation find_broken_rule(const Image& before, const Image& after) {
  if (Violation violation = new_violation(loader_rules(), before, after)) return violation;
  for (const UnwindFormat* format : unwind_formats())
    if (Violation violation = new_violation(format->rules(), before, after)) return violation;
  return std::nullopt;
}

}  // namespace respike
