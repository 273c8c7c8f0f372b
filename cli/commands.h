#pragma once
// The groups of subcommands. Each adds itself to the parser; its action runs when it was chosen.

#include <CLI/CLI.hpp>

namespace respike::cli {

void add_image_commands(CLI::App& app);
/// Adds itself to the group `image`.
void add_instrument_command(CLI::App& image);
void add_collect_command(CLI::App& image);
void add_profile_commands(CLI::App& app);
/// measure and compare.
void add_measure_commands(CLI::App& app);

}  // namespace respike::cli
