#pragma once
// Options and validators that several subcommands share.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace respike::cli {

/// -o, --output: required, the name of a file.
void add_output_option(CLI::App& command, std::string& name, const std::string& what);
/// --counters: the name of a kind of counters; `name` has the default.
void add_counters_option(CLI::App& command, std::string& name);
/// --dynamic-fragments: OptimizeOptions::dynamic_fragments.
void add_dynamic_fragments_option(CLI::App& command, bool& on);
/// For other options that name an output file.
CLI::Validator name_of_output();
/// For options that name something else, which the help calls `kind`.
CLI::Validator name_of(const std::string& kind);
/// A number from 0 to 2^64 - 1. Without this validator the parser wraps, clamps or drops text that
/// is not such a number.
CLI::Validator whole_number();
/// A finite number above 0.
CLI::Validator positive_number();
/// A number from 0 to `most`.
CLI::Validator number_up_to(double most);
/// A whole number from `least` to `most`.
CLI::Validator whole_number_between(uint64_t least, uint64_t most);
/// One of these words.
CLI::Validator one_of(std::vector<std::string> words);

/// Options and commands that only tests, benches, installers and shells need; `help --all` lists
/// them.
constexpr const char* kHidden = "";

}  // namespace respike::cli
