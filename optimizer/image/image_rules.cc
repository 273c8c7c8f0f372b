#include "optimizer/image/image_rules.h"

namespace respike {

std::optional<std::string> find_broken_rule(const Image& before, const Image& after) {
  for (const auto rules : {loader_rules(after), unwinder_rules()})
    for (const ImageRule& rule : rules)
      if (auto violation = rule.violation(after))
        if (!rule.violation(before)) return violation;
  return std::nullopt;
}

}  // namespace respike
