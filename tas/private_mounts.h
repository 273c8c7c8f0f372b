#pragma once
// Puts files in place of others, visible only to this process and its children.

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

/// Mounts each substitute, read-only, over its original, for this process (which must have one
/// thread) and its children. Other processes see no difference, and their later mounts also appear
/// here. With `foreign`, makes the emulator of that machine known to the kernel, if the system has
/// not done so and the kernel allows it, so that this process and its children can execute programs
/// of the machine; without substitutes, a namespace is entered only for that. `while_mounting`, if
/// given, is called when more can be mounted. If mounting fails before anything has changed,
/// returns why, as a clause; if it fails later, throws Error.
std::optional<std::string> mount_privately(const std::vector<Substitution>& substitutions,
                                           const Platform* foreign,
                                           const std::function<void()>& while_mounting);

/// The same, without `while_mounting`. In addition, this process and its children execute programs
/// without interception, also below `respike exec` and in sessions (interception.h); throws Error
/// where that is not possible.
std::optional<std::string> mount_unintercepted(const std::vector<Substitution>& substitutions,
                                               const Platform* foreign);

/// Mounts a file over another one, read-only, in a namespace of this process's own. Throws Error.
void mount_read_only(const std::filesystem::path& over, const std::filesystem::path& file);

/// The path, on its own file system, of the file that is mounted over `file`; nullopt when no file
/// is mounted there.
std::optional<std::filesystem::path> mounted_over(const std::filesystem::path& file);

}  // namespace respike
