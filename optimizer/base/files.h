#pragma once
// Whole files.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace respike {

/// The bytes of a regular file; throws Error when there is none or it cannot be read.
std::vector<uint8_t> read_file(const std::filesystem::path& path);

}  // namespace respike
