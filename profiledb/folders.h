#pragma once
// Folders that other processes change at the same time. Internal to profiledb.

#include <filesystem>
#include <string>
#include <vector>

namespace respike {

/// The names in a folder, sorted, without those that start with a dot; none when there is no such
/// folder. Throws Error when the folder cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

/// Makes a folder and the folders above it, as far as they are missing. Throws Error.
void make_folder(const std::filesystem::path& path);

/// The same, but only the owner has access to the new folders.
void make_private_folder(const std::filesystem::path& path);

/// Writes the names in a folder to the disk (fsync). Throws Error.
void sync_folder(const std::filesystem::path& folder);

}  // namespace respike
