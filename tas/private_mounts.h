#pragma once
// Files in the place of others, for this process and those that it starts only.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/platform.h"

namespace respike {

struct Substitution {
  std::filesystem::path original;
  std::filesystem::path substitute;  // a file
};

/// Shows each substitute, read-only, in the place of its original, to this process, which must have
/// one thread, and its children; nobody else sees anything, and what others mount from now on is
/// seen here, too. With `foreign`, when the system does not run programs of that machine by their
/// own name, this process and its children can do so afterwards where the kernel allows it; without
/// substitutes a namespace is entered only for that. Returns why it did not work, a clause; nothing
/// has changed then. Throws Error when it has.
std::optional<std::string> mount_privately(const std::vector<Substitution>& substitutions,
                                           const Platform* foreign);

/// The path of the file that this process sees in the place of another by a mount, on its own file
/// system; nullopt when nothing is mounted over that one.
std::optional<std::filesystem::path> mounted_over(const std::filesystem::path& file);

}  // namespace respike
