#pragma once
// Whole files.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace respike {

/// The bytes of a regular file; throws Error when there is none or it cannot be read.
std::vector<uint8_t> read_file(const std::filesystem::path& path);

/// Takes the numbers of standard files that are closed, so that no file opened later becomes one of
/// them; they stay unusable, and closed for programs that this process executes. To be called
/// before anything is opened.
void occupy_closed_standard_files();

}  // namespace respike
