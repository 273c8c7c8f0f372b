#pragma once
// Decides which substitutes can take the place of their originals.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tas/libraries.h"
#include "tas/private_mounts.h"

namespace respike {

/// Whether the program gets privileges when it is started: set-uid, set-gid, file capabilities.
bool has_privileges(const std::filesystem::path& program);

/// The substitutions that can be made for a program, originals without symbolic links. Warns of
/// those that cannot be made. Throws Error when a file is missing.
std::vector<Substitution> usable_substitutions(const ProgramImage& program,
                                               const std::vector<Substitution>& substitutions,
                                               const std::function<void(const std::string&)>& warn);

}  // namespace respike
