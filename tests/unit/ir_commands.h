#pragma once
// The commands that text cases of tests/ir can run; tests/ir/README.md lists them.

#include <filesystem>
#include <string>

namespace respike {

/// The output of all `run:` lines of a case, one after the other. `text`: the contents of the file.
std::string run_text_case(const std::string& text);

/// The same for an assembler file, which is assembled and linked first. `folder`: for these files.
std::string run_assembler_case(const std::filesystem::path& source,
                               const std::filesystem::path& folder);

}  // namespace respike
