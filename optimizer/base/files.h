#pragma once
// Whole files.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace respike {

/// The bytes of a regular file. Throws Error when there is no such file or it cannot be read.
std::vector<uint8_t> read_file(const std::filesystem::path& path);

/// Opens the standard files (0 to 2) that are closed, so that no file opened later gets their
/// numbers. They stay unusable, and they are closed in programs that this process executes. To be
/// called before anything is opened.
void occupy_closed_standard_files();

}  // namespace respike
