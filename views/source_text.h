#pragma once
// The text of the source files that debug information names.

#include <optional>
#include <string>
#include <vector>

namespace respike {

/// The lines of a source file, with spaces for tabs; nullopt: it cannot be read, is no file, or is
/// larger than 64 MB. Debug information may name any file: a device is never opened.
std::optional<std::vector<std::string>> read_source(const std::string& path);

}  // namespace respike
