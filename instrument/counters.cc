// Names of the kinds of counters. Example: name_of(Counters::atomic) is "atomic", and
// counters_named("atomic") is Counters::atomic; other names give nullopt.

#include "instrument/counters.h"

#include <algorithm>
#include <iterator>

namespace respike {

std::string_view name_of(Counters counters) {
  return kCounterNames[static_cast<size_t>(counters)];
}

std::optional<Counters> counters_named(std::string_view name) {
  const auto found = std::ranges::find(kCounterNames, name);
  if (found == std::end(kCounterNames)) return std::nullopt;
  return static_cast<Counters>(found - std::begin(kCounterNames));
}

}  // namespace respike
