#pragma once
// Versions of images of Windows, and the table of versions for the loader.

#include <filesystem>
#include <vector>

#include "tas/private_mounts.h"

namespace respike {

/// The folder for versions, in a folder of Respike's own.
inline constexpr const char* kWindowsVersions = "windows";

/// Makes copies of the substitutes and of the `unchanged` images, which import from each other, in
/// a folder of their own below `folder`, with a table of the copies for the loader. Returns the
/// path of the table. A folder that exists already is not made again. Throws Error.
std::filesystem::path make_windows_versions(const std::vector<Substitution>& substitutions,
                                            const std::vector<std::filesystem::path>& unchanged,
                                            const std::filesystem::path& folder);

/// Removes versions with which no program was started for an hour. Running programs still find
/// originals.
void prune_windows_versions(const std::filesystem::path& folder);

}  // namespace respike
