#pragma once
// Says in one sentence what is wrong with a command line and what to write instead.

#include <CLI/CLI.hpp>
#include <string>

namespace respike::cli {

/// `error` is what the parser threw.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

}  // namespace respike::cli
