#pragma once
// Notes on the libraries that a program opens while it runs (dlopen). The notes survive any end of
// the program.

#include <filesystem>
#include <vector>

#include "tas/libraries.h"
#include "tas/session.h"

namespace respike {

/// Makes `folder` ready for notes of programs of the platform: puts the audit module there unless
/// the emulator makes notes itself. Returns no folder when notes cannot be made for the platform.
/// Throws Error when the folder cannot be written.
Notes prepare_notes(const std::filesystem::path& folder, const Platform& platform);

/// The libraries noted so far, as absolute paths of existing files on this host, sorted.
std::vector<std::filesystem::path> read_notes(const std::filesystem::path& folder,
                                              const Platform& platform);

}  // namespace respike
