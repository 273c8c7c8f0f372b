#pragma once
// The commands as data, taken from the parser, for help, manual pages and completions.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace respike::cli {

struct ArgumentDescription {
  std::string name;                // name of a positional: NAME
  std::vector<std::string> flags;  // flags of an option: "-o", "--output"
  std::string value;               // the placeholder of the value: FILE; empty: a flag
  std::vector<std::string> choices;
  std::string text;
  std::string standard;  // the default, in words; empty: none
  bool required = false;
  bool repeated = false;
};

struct CommandDescription {
  std::vector<std::string> words;  // {"respike", "image", "optimize"}
  std::string summary;             // a line, without a full stop
  std::vector<std::string> notes;  // sentences below the options
  std::string group;               // "Applications"
  std::vector<ArgumentDescription> positionals, options;
  std::vector<CommandDescription> commands;  // subcommands

  /// "respike image optimize".
  std::string name() const;
  /// "respike image optimize [OPTIONS] IMAGE", or the usage from the notes if a program follows.
  std::string usage() const;
  const CommandDescription* command(const std::string& word) const;
};

/// Hidden commands and options are left out.
CommandDescription describe(const CLI::App& app);

}  // namespace respike::cli
