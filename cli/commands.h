#pragma once
// The groups of subcommands. Each function adds its commands to the parser, which runs the action
// of the command that the user chose.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace respike::cli {

void add_image_commands(CLI::App& app);
/// The next three add their command to the group `image`.
void add_disasm_command(CLI::App& image);
void add_annotate_command(CLI::App& profile);
void add_instrument_command(CLI::App& image);
void add_collect_command(CLI::App& image);
void add_profile_commands(CLI::App& app);
/// `words` are the words after "--", for the program that the command runs; they are read when the
/// command runs.
void add_measure_command(CLI::App& app, const std::vector<std::string>& words);
/// The commands on applications. `words`: the words after "--", or after `run NAME`.
void add_application_commands(CLI::App& app, const std::vector<std::string>& words);

/// help, and commands for shells and installers. `words`: the words after `complete`.
void add_help_commands(CLI::App& app, const std::vector<std::string>& words);
/// Prints what `respike` without arguments shows on a terminal: at most five lines, from the
/// database.
void print_next_steps(const CLI::App& app);

/// Thrown to end the command with this status, without another message.
struct Exit {
  int status;
};

}  // namespace respike::cli
