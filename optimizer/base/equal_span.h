#pragma once

#include <algorithm>
#include <iterator>
#include <span>

namespace respike {

/// The elements of `sorted` whose projection equals `value`, by binary search. The standard
/// library's ranges::equal_range() gives the same, but Clang 14 does not compile it.
template <class Sorted, class Value, class Projection>
auto equal_span(const Sorted& sorted, const Value& value, Projection projection) {
  const auto first = std::ranges::lower_bound(sorted, value, {}, projection);
  const auto last = std::ranges::upper_bound(first, std::end(sorted), value, {}, projection);
  return std::span(first, last);
}

}  // namespace respike
