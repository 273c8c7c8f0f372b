#pragma once
// The groups of subcommands. Each adds itself to the parser; its action runs when it was chosen.

#include <CLI/CLI.hpp>

namespace respike::cli {

void add_image_commands(CLI::App& app);

}  // namespace respike::cli
