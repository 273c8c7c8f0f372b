#pragma once
// Counter files that wait to be merged.

#include <filesystem>

namespace respike {

/// Whether so many counter files wait in the spool that somebody should merge them now: they shall
/// not fill the disk.
bool many_files_wait(const std::filesystem::path& spool);

}  // namespace respike
