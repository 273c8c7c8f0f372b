#pragma once
// Folders that other processes change at the same time. Internal to profiledb.

#include <filesystem>
#include <string>
#include <vector>

namespace respike {

/// The names in a folder, sorted, those that start with a dot left out; none when there is no such
/// folder. Throws Error when it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

/// Makes a folder and those above it, unless they are there. Throws Error.
void make_folder(const std::filesystem::path& path);

/// Brings the names in a folder to the disk. Throws Error.
void sync_folder(const std::filesystem::path& folder);

}  // namespace respike
