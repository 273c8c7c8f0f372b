#pragma once
// Names of procedures as they stand in the source.

#include <string_view>

namespace respike {

/// A name without what compilers and linkers append to it: ".constprop.0", ".isra.0", ".part.0",
/// ".cold", ".lto_priv.7", a number (of a local symbol), "@GLIBC_2.4". Never empty unless the name
/// is.
std::string_view source_name(std::string_view name);

}  // namespace respike
