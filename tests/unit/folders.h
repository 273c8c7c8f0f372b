#pragma once
// Where tests find files.

#include <filesystem>

namespace respike {

/// The folder of Respike's sources.
std::filesystem::path source_folder();

/// The folder that Respike was built in.
std::filesystem::path build_folder();

}  // namespace respike
