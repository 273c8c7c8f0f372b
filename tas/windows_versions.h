#pragma once
// Versions of images of Windows, as the loader is told of them.

#include <filesystem>
#include <vector>

#include "tas/private_mounts.h"

namespace respike {

/// The folder for versions, in a folder of Respike's own.
inline constexpr const char* kWindowsVersions = "windows";

/// Makes copies of the substitutes, and of images that stay `unchanged`, that import from each
/// other, in a folder of their own below `folder`, and the table of them for the loader. Returns
/// the path of the table. What is there already is not made again. Throws Error.
std::filesystem::path make_windows_versions(const std::vector<Substitution>& substitutions,
                                            const std::vector<std::filesystem::path>& unchanged,
                                            const std::filesystem::path& folder);

/// Removes versions that no program was started with for an hour. Programs that run still find
/// originals.
void prune_windows_versions(const std::filesystem::path& folder);

}  // namespace respike
