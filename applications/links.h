#pragma once
// Paths of files, with and without symbolic links.

#include <filesystem>

namespace respike {

/// The path without "..", if that path leads to the same file, so that $ORIGIN/../lib gives the
/// same path from every folder.
std::filesystem::path without_detours(const std::filesystem::path& path);

/// The file that a path leads to, symbolic links followed; the path itself when there is no file.
/// Hard links are different files here: a mount over one of them does not hide the other.
std::filesystem::path real_path(const std::filesystem::path& path);

}  // namespace respike
