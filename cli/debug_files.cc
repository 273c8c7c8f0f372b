// The options for an image whose debug information is in a file of its own (objcopy
// --only-keep-debug): the new image gets a new debug file, under the output's name and ".debug"
// unless --debug-output names another.
//
// No file may overwrite another: the debug file must differ from the output, and the new debug file
// from both and from the command's other files.
//
// Example: `respike image optimize app -o fast --debug-file app.debug` writes fast and fast.debug,
// and fast's .gnu_debuglink names "fast.debug".

#include "cli/debug_files.h"

#include <filesystem>

#include "applications/file_checks.h"
#include "cli/arguments.h"

namespace respike::cli {

void add_debug_file_options(CLI::App& command, DebugFileArguments& arguments) {
  CLI::Option* input =
      command
          .add_option("--debug-file", arguments.input,
                      "the debug information of IMAGE, which is in this file (objcopy "
                      "--only-keep-debug); the output gets a debug file, too")
          ->check(name_of("FILE"));
  command.add_option("--debug-output", arguments.output, "the new debug file")
      ->check(name_of_output())
      ->needs(input)
      ->default_str("the output's name and .debug");
}

std::optional<Image> read_debug_file(DebugFileArguments& arguments, const std::string& output,
                                     std::vector<std::string> others) {
  if (arguments.input.empty()) return std::nullopt;
  if (arguments.output.empty()) arguments.output = output + ".debug";
  refuse_overwriting(output, {arguments.input});
  others.insert(others.end(), {output, arguments.input});
  refuse_overwriting(arguments.output, others);
  return read_image(std::filesystem::path(arguments.input));
}

std::string link_name(const DebugFileArguments& arguments) {
  return std::filesystem::path(arguments.output).filename().string();
}

}  // namespace respike::cli
