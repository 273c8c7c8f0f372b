#pragma once
// The groups of subcommands. Each adds itself to the parser; its action runs when it was chosen.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace respike::cli {

void add_image_commands(CLI::App& app);
/// These add themselves to the group `image`.
void add_disasm_command(CLI::App& image);
void add_instrument_command(CLI::App& image);
void add_collect_command(CLI::App& image);
void add_profile_commands(CLI::App& app);
/// measure and compare. `words` are those behind "--", for the program that they run; they are read
/// when the command runs.
void add_measure_commands(CLI::App& app, const std::vector<std::string>& words);
/// Those on applications. `words`: what follows the application's name behind `run`.
void add_application_commands(CLI::App& app, const std::vector<std::string>& words);

/// Ends the command with this status; everything has been said.
struct Exit {
  int status;
};

}  // namespace respike::cli
