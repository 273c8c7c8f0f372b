// The rules of loaders and unwinders, applied to input and output.
//
// Example: the dynamic linker takes the distance from the table of symbols to the symbols' names
// for the size of that table. An output with something between the two breaks the rule and is
// refused. If the input has something there as well, its loader does not measure the distance, and
// the output passes.

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
  if (Violation violation = new_violation(loader_rules(after), before, after)) return violation;
  for (const UnwindFormat* format : unwind_formats())
    if (Violation violation = new_violation(format->rules(), before, after)) return violation;
  return std::nullopt;
}

}  // namespace respike
