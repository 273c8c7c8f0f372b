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
  copies   // each thread at counters of its own: exact with threads, and children that the image
           // itself forks
};

/// The names of the kinds of counters on the command line: shared, atomic, threads.
std::string_view name_of(Counters counters);
std::optional<Counters> counters_named(std::string_view name);
inline constexpr const char* kCountersHelp =
    "atomic: exact with several threads and forked children, slower; threads: each thread of a "
    "dynamically linked x86-64 program counts by itself";

}  // namespace respike
