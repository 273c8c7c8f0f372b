#pragma once
// Which libraries a program opens while it runs (dlopen): notes that survive every end of it.

#include <filesystem>
#include <vector>

#include "tas/libraries.h"
#include "tas/session.h"

namespace respike {

/// Makes `folder` ready for notes of programs of the machine: puts the audit module there unless
/// the emulator does without. No folder: nobody can note for the machine. Throws Error when the
/// folder cannot be written.
Notes prepare_notes(const std::filesystem::path& folder, const Platform& platform);

/// The libraries noted so far, as files of this host, absolute, those that are there; by path.
std::vector<std::filesystem::path> read_notes(const std::filesystem::path& folder,
                                              const Platform& platform);

}  // namespace respike
