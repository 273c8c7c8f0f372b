#pragma once
// Puts files in the place of others, visible to this process and its children only.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/platform.h"

namespace respike {

struct Substitution {
  std::filesystem::path original;
  std::filesystem::path substitute;  // a file
};

/// Mounts each substitute, read-only, over its original, for this process, which must have one
/// thread, and its children; other processes see no difference, and their later mounts appear here,
/// too. With `foreign`, teaches the kernel the emulator of that machine, if the system has not and
/// the kernel allows it, so that this process and its children can execute programs of the machine;
/// without substitutes, a namespace is entered only for that. `while_mounting`, if there is one, is
/// called where more can be mounted. Returns why mounting failed, as a clause, if nothing has
/// changed; throws Error if it fails after something has.
std::optional<std::string> mount_privately(const std::vector<Substitution>& substitutions,
                                           const Platform* foreign,
                                           const std::function<void()>& while_mounting);

/// The same, without `while_mounting`; and what this process and its children execute is executed
/// as it is, also below `respike exec` and in sessions (interception.h). Throws Error also where
/// that cannot be had.
std::optional<std::string> mount_unintercepted(const std::vector<Substitution>& substitutions,
                                               const Platform* foreign);

/// Mounts a file over another one, read-only, in a namespace of this process's own. Throws Error.
void mount_read_only(const std::filesystem::path& over, const std::filesystem::path& file);

/// The path, on its own file system, of the file that is mounted over `file`; nullopt when no file
/// is.
std::optional<std::filesystem::path> mounted_over(const std::filesystem::path& file);

}  // namespace respike
