#pragma once
// What a file is, by its first bytes: for messages about a file of the wrong kind.

#include <cstdint>
#include <span>
#include <string_view>

namespace respike {

/// "a program or library", "a script", "a profile", "a counter file"; empty: unknown.
std::string_view kind_of_file(std::span<const uint8_t> start);

}  // namespace respike
