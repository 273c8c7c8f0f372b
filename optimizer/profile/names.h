#pragma once
// Names of procedures as in the source.

#include <string_view>

namespace respike {

/// A name without the suffixes that compilers and linkers append: ".constprop.0", ".isra.0",
/// ".part.0", ".cold", ".lto_priv.7", a number (of a local symbol), "@GLIBC_2.4". Empty only for an
/// empty name.
std::string_view source_name(std::string_view name);

}  // namespace respike
