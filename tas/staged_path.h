#pragma once
// Where the files of a package are before it is installed.

#include <filesystem>
#include <optional>

namespace respike {

/// The file that an absolute path will name when the files below `root` (DESTDIR) are installed:
/// links lead to where they will lead then, absolute ones to files below the root, too. nullopt
/// when the path will lead to no file of the tree and through none of its links. Example: below
/// /tmp/tree, where usr/lib/libx.so is a link to /lib/libx.so.1, the path /usr/lib/libx.so names
/// the file /tmp/tree/lib/libx.so.1.
std::optional<std::filesystem::path> staged_path(const std::filesystem::path& root,
                                                 const std::filesystem::path& path);

}  // namespace respike
