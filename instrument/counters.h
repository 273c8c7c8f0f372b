#pragma once
// The kinds of counters.

#include <cstdint>
#include <optional>
#include <string_view>

namespace respike {

/// Where threads count, and how.
enum class Counters : uint8_t {
  shared,  // all at the same counters: exact for one thread
  atomic,  // the same, exact with several threads and forked children
  threads  // each thread at counters of its own: exact with threads, and children that the image
           // itself forks
};

/// By the number of Counters: the names on the command line.
inline constexpr std::string_view kCounterNames[] = {"shared", "atomic", "threads"};
std::string_view name_of(Counters counters);
std::optional<Counters> counters_named(std::string_view name);

}  // namespace respike
