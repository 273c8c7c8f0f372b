#pragma once
// Programs for Windows NT, which run in the test world of respike-nt (nt/README.md).

#include <filesystem>
#include <string>
#include <vector>

namespace respike::measure {

/// Whether the file begins like a program for Windows.
bool is_for_windows(const std::filesystem::path& program);

/// The words between those of the emulator and the path of the program: the loader, which is a
/// program of Linux, and its options; empty if the program is not for Windows. Throws Error when
/// there is no loader.
std::vector<std::string> loader_words(const std::filesystem::path& program,
                                      const std::string& argv0);

}  // namespace respike::measure
