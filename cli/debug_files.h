#pragma once
// The options --debug-file and --debug-output: an image whose debug information is in a file of its
// own.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/image/image.h"

namespace respike::cli {

struct DebugFileArguments {
  std::string input;   // empty: there is none
  std::string output;  // empty: the image's output and ".debug"
};

void add_debug_file_options(CLI::App& command, DebugFileArguments& arguments);

/// Reads the debug file, if there is one, and completes `arguments` for the image's output. Throws
/// Error when the new debug file would overwrite one of `others`, the output or the debug file, or
/// when the output would overwrite the debug file.
std::optional<Image> read_debug_file(DebugFileArguments& arguments, const std::string& output,
                                     std::vector<std::string> others);

/// The name by which the image refers to its debug file: debuggers look for it in folders of their
/// own.
std::string link_name(const DebugFileArguments& arguments);

}  // namespace respike::cli
