#pragma once
// The libraries that the loader of Windows loads together with a program.

#include <filesystem>
#include <string>

#include "tas/libraries.h"

namespace respike {

/// As find_libraries(), for a program or library of Windows. A library of Windows itself, such as
/// kernel32.dll, is no file.
Libraries find_windows_libraries(const ProgramImage& program);

/// The file that the name of a library leads to, in a program; empty: there is none.
std::filesystem::path find_windows_library(const std::string& name,
                                           const std::filesystem::path& program);

/// The last part of a name or path in lower case, with the ".dll" that may be left out: names of
/// libraries are compared like this.
std::string windows_library_name(const std::string& name);

}  // namespace respike
