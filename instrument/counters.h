#pragma once
// The kinds of counters.

#include <cstdint>
#include <optional>
#include <string_view>

namespace respike {

/// Which counters the threads of a process use.
enum class Counters : uint8_t {
  shared,  // all use the same counters: exact for one thread
  atomic,  // the same, exact with several threads and forked children
  threads  // each thread has counters of its own: exact with threads, and with children that the
           // image itself forks
};

/// The names on the command line, by the number of Counters.
inline constexpr std::string_view kCounterNames[] = {"shared", "atomic", "threads"};
std::string_view name_of(Counters counters);
std::optional<Counters> counters_named(std::string_view name);

}  // namespace respike
