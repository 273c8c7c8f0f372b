#pragma once
// The libraries that the loader of Windows loads together with a program.

#include <filesystem>
#include <string>

#include "tas/libraries.h"

namespace respike {

/// Like find_libraries(), for a program or library of Windows. A library of Windows itself, such as
/// kernel32.dll, has no file.
Libraries find_windows_libraries(const ProgramImage& program);

/// The file that a library's name leads to, for a program; empty: there is none.
std::filesystem::path find_windows_library(const std::string& name,
                                           const std::filesystem::path& program);

/// The last part of a name or path in lower case, with ".dll", which may be omitted in the name:
/// names of libraries are compared in this form.
std::string windows_library_name(const std::string& name);

}  // namespace respike
