#pragma once
// Counter files that wait to be merged.

#include <filesystem>

namespace respike {

/// Whether so many counter files wait in the spool that they should be merged now: they must not
/// fill the disk.
bool many_files_wait(const std::filesystem::path& spool);

}  // namespace respike
